// The screens for visitors who are not signed in: registration, sign-in, links from e-mails,
// documents, and the errors for links that lead nowhere.
import { paths } from '../../../web/paths.ts'
import { PASSWORD } from '../../stages/accounts.ts'
import {
  failRequests,
  press,
  type Screen,
  type ScreenContext,
  screen,
  visit,
  waitUntilLoaded,
} from './screen.ts'

const CODE = '#code=a-code-of-a-letter'

const withCode = (name: string, path: string) => async (on: ScreenContext) => {
  // Open another address first: a change of the hash alone is not a navigation.
  await on.page.goto('about:blank')
  await visit(on, `${path}${CODE}`)
  await on.page.locator(name).first().waitFor()
}

async function signIn(
  { page, words }: ScreenContext,
  email: string,
  password: string,
): Promise<void> {
  await page.getByLabel(words.signIn.email, { exact: true }).fill(email)
  await page.getByLabel(words.signIn.password, { exact: true }).fill(password)
  await press(page, words.signIn.submit)
}

async function toSecondFactor(on: ScreenContext): Promise<void> {
  await signIn(on, on.people.careful.email, PASSWORD)
  await on.page.getByLabel(on.words.second.app).waitFor()
}

async function register({ page, words }: ScreenContext, email: string): Promise<void> {
  await page.getByLabel(words.signIn.email, { exact: true }).fill(email)
  await page.getByLabel(words.signIn.password, { exact: true }).fill(PASSWORD)
  for (const box of await page.getByRole('checkbox').all()) await box.check()
  await press(page, words.register.submit)
  await page.getByRole('heading', { name: words.mail.title }).waitFor()
}

const linkScreen = (path: string) => withCode('main button', path)

/** The page of a link that the server answers with a state of the recovery. */
const recoverScreen = (state: 'new' | 'waiting' | 'ripe') => async (on: ScreenContext) => {
  const ripeAt = state === 'new' ? null : '2026-11-20T09:05:00.000Z'
  const body = JSON.stringify({ state, ripeAt, waitHours: 72 })
  await on.page.route('**/api/auth/recovery/look', (route) =>
    route.fulfill({ status: 200, contentType: 'application/json', body }),
  )
  await withCode(state === 'waiting' ? 'main a' : 'main input', paths.recover)(on)
}

/** A page that needs the session, which cannot be read. */
function problemScreen(
  name: string,
  title: 'broken' | 'away',
  code: 'fault' | 'unavailable',
): Screen {
  return {
    ...{ name, route: undefined, who: 'guest', isBroken: true },
    async open(on) {
      await failRequests(on.page, '**/api/me', code)
      await on.page.goto(`${on.stage.url}${paths.usage}`)
      await on.page.getByRole('heading', { name: on.words[title].title }).waitFor()
      await waitUntilLoaded(on.page)
    },
  }
}

export const guestScreens: readonly Screen[] = [
  screen('sign-in', 'signIn', 'guest'),
  screen('sign-in-empty', 'signIn', 'guest', async ({ page, words }) => {
    await press(page, words.signIn.submit)
    await page.getByText(words.field.email).waitFor()
  }),
  screen('sign-in-wrong', 'signIn', 'guest', async (on) => {
    await signIn(on, 'nobody@example.org', 'not the password')
    await on.page.getByText(on.words.errors.sign_in_wrong).waitFor()
  }),
  screen('sign-in-second', 'signIn', 'guest', toSecondFactor),
  screen('sign-in-recovery', 'signIn', 'guest', async (on) => {
    await toSecondFactor(on)
    await press(on.page, on.words.second.useRecovery)
    await on.page.getByLabel(on.words.second.recovery).waitFor()
  }),
  screen('register', 'register', 'guest'),
  screen('register-wrong', 'register', 'guest', async ({ page, words }) => {
    await page.getByLabel(words.signIn.password, { exact: true }).fill('short')
    await press(page, words.register.submit)
    await page.getByText(words.register.consentNeeded).first().waitFor()
  }),
  screen('mail', 'mail', 'guest'),
  {
    ...screen('mail-sent', 'mail', 'guest'),
    async open(on) {
      await visit(on, paths.register)
      await register(on, 'somebody@example.org')
    },
  },
  {
    ...screen('confirm', 'confirm', 'guest', async (on) => {
      // In another browser than the one that registered.
      await failRequests(on.page, '**/api/auth/confirm', 'password_needed')
      await withCode('input', paths.confirm)(on)
    }),
    isBroken: true,
  },
  screen('confirm-spent', 'confirm', 'guest'),
  screen('invitation', 'invitation', 'guest', withCode('input', paths.invitation)),
  screen('invitation-wrong', 'invitation', 'guest', async (on) => {
    await withCode('input', paths.invitation)(on)
    await on.page.getByLabel(on.words.signIn.password, { exact: true }).fill('short')
    await press(on.page, on.words.invitation.submit)
    await on.page.getByText(on.words.register.consentNeeded).first().waitFor()
  }),
  screen('invitation-spent', 'invitation', 'guest'),
  screen('forgot', 'forgot', 'guest'),
  screen('forgot-sent', 'forgot', 'guest', async ({ page, words }) => {
    await page.getByLabel(words.signIn.email, { exact: true }).fill('somebody@example.org')
    await press(page, words.forgot.submit)
    await page.getByRole('heading', { name: words.mail.title }).waitFor()
  }),
  screen('reset', 'reset', 'guest', withCode('input', paths.reset)),
  screen('reset-spent', 'reset', 'guest'),
  screen('email', 'email', 'guest', withCode('input', paths.email)),
  screen('email-owner', 'email', 'newcomer', withCode('main button', paths.email)),
  screen('email-spent', 'email', 'guest'),
  screen('unsubscribe', 'unsubscribe', 'guest', withCode('main button', paths.unsubscribe)),
  screen('unsubscribe-spent', 'unsubscribe', 'guest'),
  screen('undo-email', 'undoEmail', 'guest', withCode('main button', paths.undoEmail)),
  screen('undo-email-spent', 'undoEmail', 'guest'),
  screen('undo-email-done', 'undoEmail', 'guest', async (on) => {
    const body = JSON.stringify({ status: true })
    await on.page.route('**/api/auth/email/undo', (route) =>
      route.fulfill({ status: 200, contentType: 'application/json', body }),
    )
    await withCode('main button', paths.undoEmail)(on)
    await press(on.page, on.words.undoEmail.submit)
    await on.page.getByRole('heading', { name: on.words.undoEmail.doneTitle }).waitFor()
  }),
  screen('sign-in-lost', 'signIn', 'guest', async (on) => {
    await toSecondFactor(on)
    await press(on.page, on.words.lostFactor.open)
    await on.page.getByText(on.words.lostFactor.title).waitFor()
  }),
  screen('recover', 'recover', 'guest', recoverScreen('new')),
  screen('recover-waiting', 'recover', 'guest', recoverScreen('waiting')),
  screen('recover-ripe', 'recover', 'guest', recoverScreen('ripe')),
  screen('recover-spent', 'recover', 'guest'),
  screen('confirm-recovery', 'confirmRecovery', 'guest', linkScreen(paths.confirmRecovery)),
  screen('finish-recovery', 'finishRecovery', 'guest', linkScreen(paths.finishRecovery)),
  screen('stop-recovery', 'stopRecovery', 'guest', linkScreen(paths.stopRecovery)),
  {
    ...screen('document', 'document', 'guest'),
    open: (on) => visit(on, paths.document.replace('$document', 'offer')),
  },
  {
    ...screen('document-unknown', 'document', 'guest'),
    open: (on) => visit(on, paths.document.replace('$document', 'nothing')),
  },
  { name: 'not-found', route: undefined, who: 'guest', open: (on) => visit(on, '/nowhere') },
  problemScreen('broken', 'broken', 'fault'),
  problemScreen('away', 'away', 'unavailable'),
]
