// People with automatic top-up in the situations that its page distinguishes.
import type * as contract from '../../../src/cabinet/contract/contract.ts'
import type { TopUp, TopUpHistory } from '../../../src/cabinet/contract/guards.ts'
import type { OrderId } from '../../../src/platform/ids.ts'
import type { Person, ScreensStage } from './stage.ts'

/** The pack of the example catalogue. */
const terms = { pack: 'pack-35m', priceKopecks: '130000', credits: '35000000' }

export async function arrangeMandates(stage: ScreensStage) {
  const [saver, autopay, decliner] = await Promise.all([
    keepCard(stage, await stage.person('saver')),
    keepCard(stage, await stage.person('autopay')),
    keepCard(stage, await stage.person('decliner')),
  ])
  await Promise.all([arrangeLiving(stage, autopay.own), arrangeDeclined(stage, decliner)])
  return { saver: saver.own, autopay: autopay.own, decliner: decliner.own }
}

async function keepCard(stage: ScreensStage, own: Person) {
  const buy = { pack: terms.pack, method: 'card', attempt: `keep-${own.book}`, savesMethod: true }
  const { id } = await own.ask<contract.Order>('POST /api/orders', buy)
  await stage.sim('pay', { orderId: id })
  await stage.checkUntilState(own, id as OrderId, 'credited')
  return { own, first: id }
}

async function agree(own: Person, threshold: string): Promise<void> {
  const { consentVersion } = await own.ask<TopUp>('GET /api/top-up')
  const ceilings = { dayCeilingKopecks: '260000', monthCeilingKopecks: '520000' }
  await own.ask('POST /api/top-up', { ...terms, ...ceilings, threshold, consentVersion })
}

const spend = (stage: ScreensStage, own: Person, input: number) =>
  stage.chargeRequest(own.book, { model: 'model-small', counts: { input } })

/** Waits until the newest charge is in one of the states. */
async function untilCharged(stage: ScreensStage, own: Person, count: number, state: string) {
  await stage.until(`charge ${count} is ${state}`, async () => {
    const { charges } = await own.ask<TopUpHistory>('GET /api/top-up/history')
    return charges.length === count && charges[0]?.state === state
  })
}

/** A replaced mandate with a paid charge, and a living one with an announced charge. */
async function arrangeLiving(stage: ScreensStage, own: Person): Promise<void> {
  await agree(own, '1000000')
  await spend(stage, own, 34_500_000)
  await untilCharged(stage, own, 1, 'credited')
  await own.ask('POST /api/top-up/notice', { hasAdvanceNotice: true })
  await agree(own, '3500000')
  await spend(stage, own, 34_500_000)
  await untilCharged(stage, own, 2, 'created')
}

/** A mandate that a decline ended. */
async function arrangeDeclined(
  stage: ScreensStage,
  { own, first }: { readonly own: Person; readonly first: string },
): Promise<void> {
  await agree(own, '1000000')
  await stage.sim('method', { orderId: first, decline: 'insufficient_funds' })
  await spend(stage, own, 34_500_000)
  await untilCharged(stage, own, 1, 'canceled')
}
