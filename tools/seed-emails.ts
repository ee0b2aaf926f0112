// Gives the mailbox of a demo or development run samples of every e-mail, in both languages.
//   node tools/node.mjs tools/seed-emails.ts <the mailbox's URL>
import { loadConfig } from '../src/platform/config.ts'
import { sampleEmails, sampleOperatorEmails } from './email-samples.ts'
import { SIGN_IN } from './seed-sign-in.ts'

const ORDER = 'pay_01a1c0ac4dc07000ad4bd3a83e9ebd8a'

const loaded = loadConfig()
if ('problems' in loaded) throw new Error(loaded.problems.join('\n'))
const { brand } = loaded.config
const owner = { brand, email: SIGN_IN.email, order: ORDER }
const samples = [
  ...sampleEmails('ru', owner).map((one) => ({ ...one, language: 'ru' })),
  ...sampleEmails('en', owner).map((one) => ({ ...one, language: 'en' })),
  ...sampleOperatorEmails(brand).map((one) => ({ ...one, language: 'en' })),
]
const answer = await fetch(`${process.argv[2]}/api/samples`, {
  method: 'PUT',
  body: JSON.stringify(samples),
})
if (!answer.ok) throw new Error(`the mailbox refused the samples: ${await answer.text()}`)
