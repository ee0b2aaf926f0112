// The screens of the overview and of the settings, with the menus and dialogs that open from there.
import { paths } from '../../../web/paths.ts'
import { ageProofs, PASSWORD } from '../../stages/accounts.ts'
import { press, type Screen, type ScreenContext, screen, visit, withPreparation } from './screen.ts'

/** The latest requests arrive a moment after the rest, with live updates. */
async function latest({ page, words }: ScreenContext): Promise<void> {
  await page.getByRole('heading', { name: words.home.latest.title }).waitFor()
}

const notice = (title: (on: ScreenContext) => string) => async (on: ScreenContext) => {
  await on.page.getByText(title(on)).first().waitFor()
}

async function dialog({ page }: ScreenContext): Promise<void> {
  await page.getByRole('dialog').waitFor()
}

/** Types the password into an open dialog and sends it. */
async function password({ page, words }: ScreenContext, submit: string): Promise<void> {
  const box = page.getByRole('dialog')
  await box.getByLabel(words.signIn.password, { exact: true }).fill(PASSWORD)
  await box.getByRole('button', { name: submit, exact: true }).click()
}

const overview: readonly Screen[] = [
  screen('home', 'home', 'regular', latest),
  screen('home-table', 'home', 'regular', async (on) => {
    await latest(on)
    await on.page.getByText(on.words.home.usage.asTable).click()
  }),
  screen('home-menu', 'home', 'regular', async (on) => {
    await latest(on)
    await press(on.page, on.words.menu.account)
    await on.page.getByRole('menu').waitFor()
  }),
  screen('home-buy', 'home', 'newcomer'),
  screen('home-key', 'home', 'payer'),
  screen('home-request', 'home', 'keyed'),
  screen(
    'home-low',
    'home',
    'low',
    notice(({ words }) => words.home.notice.low),
  ),
  screen(
    'home-empty',
    'home',
    'empty',
    notice(({ words }) => words.home.notice.empty),
  ),
  screen(
    'home-debt',
    'home',
    'debtor',
    notice(({ words }) => words.home.notice.debtText),
  ),
  screen(
    'home-holding',
    'home',
    'holding',
    notice(({ words }) => words.home.balance.heldText),
  ),
  screen('home-blocked', 'home', 'blocked'),
  screen('home-suspended', 'home', 'suspended'),
  screen('home-stopped', 'home', 'stopped'),
  {
    ...screen('home-offline', 'home', 'regular'),
    isBroken: true,
    async open(on) {
      await visit(on, paths.home)
      await latest(on)
      // Only this page: other pages of the same person stay connected.
      const session = await on.page.context().newCDPSession(on.page)
      const none = { latency: 0, downloadThroughput: -1, uploadThroughput: -1 }
      await session.send('Network.emulateNetworkConditions', { offline: true, ...none })
      await on.page.getByText(on.words.state.offline).waitFor()
    },
  },
]

const settings: readonly Screen[] = [
  screen('settings', 'settings', 'regular'),
  screen('settings-wrong', 'settings', 'regular', async ({ page, words }) => {
    await press(page, words.settings.emailSubmit)
    await page.getByText(words.field.email).waitFor()
  }),
  screen('settings-sent', 'settings', 'newcomer', async ({ page, words }) => {
    await page.getByLabel(words.settings.emailNew).fill('another.address@example.org')
    await press(page, words.settings.emailSubmit)
    await page.getByText(words.settings.emailSentTitle).waitFor()
  }),
  screen('privacy', 'privacy', 'regular'),
  screen('privacy-newcomer', 'privacy', 'newcomer'),
  screen('privacy-waits', 'privacy', 'asked'),
  screen('privacy-close', 'privacy', 'regular', async (on) => {
    await press(on.page, on.words.closing.submit)
    await dialog(on)
  }),
]

const security: readonly Screen[] = [
  screen('security', 'security', 'regular'),
  screen('security-newcomer', 'security', 'newcomer'),
  screen('security-second', 'security', 'careful'),
  screen('security-wrong', 'security', 'newcomer', async ({ page, words }) => {
    await page.getByLabel(words.security.passwordNow).fill('not the password')
    await page.getByLabel(words.security.passwordNew).fill('a long enough password')
    await press(page, words.security.passwordSubmit)
    await page.getByText(words.errors.password_wrong).waitFor()
  }),
  screen('security-enable', 'security', 'newcomer', async (on) => {
    await press(on.page, on.words.factor.enable)
    await dialog(on)
  }),
  screen('security-app', 'security', 'newcomer', async (on) => {
    await press(on.page, on.words.factor.enable)
    await password(on, on.words.action.continue)
    await on.page.getByRole('img', { name: on.words.factor.qr }).waitFor()
  }),
  screen('security-codes', 'security', 'careful', async (on) => {
    await press(on.page, on.words.factor.newCodes)
    await password(on, on.words.factor.newCodes)
    await on.page.getByText(on.words.factor.codesKept).waitFor()
  }),
  screen('security-disable', 'security', 'careful', async (on) => {
    await press(on.page, on.words.factor.disable)
    await dialog(on)
  }),
  screen('security-passkey', 'security', 'regular', async (on) => {
    await press(on.page, on.words.passkey.add)
    await dialog(on)
  }),
  screen('security-rename', 'security', 'regular', async (on) => {
    const name = new RegExp(`^${on.words.passkey.renameOf.split('{{')[0]}`)
    await on.page.getByRole('button', { name }).first().click()
    await dialog(on)
  }),
  screen('security-remove', 'security', 'regular', async (on) => {
    const name = new RegExp(`^${on.words.passkey.removeOf.split('{{')[0]}`)
    await on.page.getByRole('button', { name }).first().click()
    await dialog(on)
  }),
  screen('security-others', 'security', 'regular', async (on) => {
    await press(on.page, on.words.security.revokeOthers)
    await dialog(on)
  }),
  screen('security-asked', 'security', 'asked'),
]

/** Tries to change the address with proofs that are a day old. */
async function changeEmail({ page, words }: ScreenContext): Promise<void> {
  await page.getByLabel(words.settings.emailNew).fill('another.address@example.org')
  await press(page, words.settings.emailSubmit)
  await page.getByRole('heading', { name: words.stepUp.title }).waitFor()
}

const forgetProofs = ({ stage, people }: ScreenContext) =>
  ageProofs(stage.db, '1 day', people.guarded.email)

const proofs: readonly Screen[] = [
  withPreparation(screen('step-up', 'settings', 'guarded', changeEmail), forgetProofs),
  withPreparation(
    screen('step-up-wrong', 'settings', 'guarded', async (on) => {
      await changeEmail(on)
      const box = on.page.getByRole('dialog')
      await box.getByLabel(on.words.signIn.password, { exact: true }).fill('not the password')
      await box.getByRole('button', { name: on.words.stepUp.submit, exact: true }).click()
      await box.getByText(on.words.errors.password_wrong).waitFor()
    }),
    forgetProofs,
  ),
  withPreparation(
    screen('step-up-code', 'settings', 'guarded', async (on) => {
      await changeEmail(on)
      await password(on, on.words.stepUp.submit)
      await on.page.getByLabel(on.words.second.app).waitFor()
    }),
    forgetProofs,
  ),
  screen('settings-moved', 'settings', 'moved'),
  screen('review', 'review', 'reviewer'),
  screen('review-nothing', 'review', 'reviewer', async ({ page, words }) => {
    for (const box of await page.getByRole('checkbox').all()) await box.uncheck()
    await page.getByRole('button', { name: words.review.keepAll }).waitFor()
  }),
  screen('review-none', 'review', 'newcomer'),
  screen('home-review', 'home', 'reviewer'),
]

export const ownerScreens: readonly Screen[] = [...overview, ...settings, ...security, ...proofs]
