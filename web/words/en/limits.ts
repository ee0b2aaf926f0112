// Limits and alerts about the balance, in English.
import type { limits as ru } from '../ru/limits.ts'
import type { Same } from '../ru/ru.ts'

export const limits: Same<typeof ru> = {
  limits: {
    saved: 'Saved.',
    save: 'Save',
    none: 'No limit',
    amountWrong: 'Enter a whole number, such as 5,000,000.',
    pause: {
      title: 'Requests with your key',
      state: {
        served: 'Active',
        suspended: 'Paused',
        stopped: 'Stopped',
        blocked: 'Blocked by us',
      },
      text: {
        served:
          'If your key may have leaked or a program spends too much, pause your requests. Your ' +
          'key and balance stay the same.',
        suspended: 'New requests are rejected until you resume them. Your key stays the same.',
        stopped:
          'Your spending rate limit was exceeded, and new requests are rejected. If this was ' +
          'you, resume them. If not, reissue the key.',
        blocked: 'Contact us to resolve this: {{email}}.',
      },
      suspend: 'Pause requests',
      resume: 'Resume requests',
      reissue: 'Go to API key',
      paused: 'Requests paused.',
      resumed: 'Requests resumed.',
    },
    spending: 'Spending limits',
    spendingHint: 'Changes apply from the next request. To relax a limit, confirm your identity.',
    day: 'Daily limit, credits',
    dayHint:
      'Spent since {{clock}}: {{spent}}. The limit resets at {{clock}} your time, midnight UTC. ' +
      'Leave empty for no limit.',
    inRubles: '{{credits}}: {{about}}, {{source}}.',
    speed: 'Stop requests if spending exceeds',
    speedHint: 'In credits. Requests stop and we e-mail you immediately. Leave empty for no limit.',
    within: 'Within',
    minutes_one: '{{count}} minute',
    minutes_other: '{{count}} minutes',
    hours_one: '{{count}} hour',
    hours_other: '{{count}} hours',
    letters: {
      title: 'Balance alerts',
      hint: 'We e-mail {{email}} once each time your balance falls below a threshold.',
      credits: 'When credits fall below',
      creditsHint: 'Leave empty for no alert.',
      days: 'When days left fall below',
      daysHint: 'At the rate that the overview shows. Leave empty for no alert.',
      daysWrong: 'Enter a number of days from 1 to {{max}}.',
      never: 'No alert',
      always:
        'We always e-mail you when a request is rejected because you are out of credits or have ' +
        'reached your daily limit or spending rate limit.',
    },
  },
}
