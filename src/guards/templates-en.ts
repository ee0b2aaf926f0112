// E-mails about a balance and its limits, in English. Each gives the reason, then what to do.
import { roundedUp } from '../units/credits.ts'
import type { EmailTemplates } from './email-kinds.ts'

export const english: EmailTemplates = {
  locale: 'en-GB',
  templates: {
    'low-balance': ({ balance, daysLeft }, { brand, page, credits }) => ({
      subject: `Your ${brand} credits are running low`,
      lines: [
        `You have ${credits(balance)} left.`,
        ...(daysLeft === null
          ? []
          : [`At your recent rate of spending, ${durationPhrase(daysLeft)}.`]),
      ],
      button: { label: 'Top up', link: page('packs') },
      more: [`Change when you get this alert: ${page('limits')}`],
    }),
    'balance-empty': ({ balance }, { brand, page, credits }) => ({
      subject: `You are out of ${brand} credits`,
      lines: [
        balance > 0n
          ? `A request was rejected: it needs more than the ${credits(balance)} you have left.`
          : 'You have no credits left, so requests are rejected.',
        'Top up your balance: requests will work again immediately, with the same key.',
      ],
      button: { label: 'Top up', link: page('packs') },
    }),
    'day-limit-reached': (
      { dayLimit, needed, left, resetsAtMs },
      { brand, page, time, credits },
    ) => ({
      subject: `A request exceeded your ${brand} daily limit`,
      lines: [
        needed === null || left === null
          ? 'A request was rejected: it could cost more than what is left of your daily limit ' +
            `of ${credits(dayLimit)}.`
          : `A request was rejected: it could cost ${credits(roundedUp(needed))}. You had ` +
            `${credits(left)} left of your daily limit of ${credits(dayLimit)}.`,
        `The limit resets on ${time(resetsAtMs)}. You can raise it at any time.`,
      ],
      button: { label: 'View limits', link: page('limits') },
    }),
    'velocity-stopped': ({ limit, minutes }, { brand, page, credits }) => ({
      subject: `${brand} requests stopped: unusually high spending`,
      lines: [
        'Your spending rate limit was exceeded: ' +
          `more than ${credits(limit)} within ${minutes} min. New requests are rejected.`,
        'If this was you, resume requests on the limits page.',
      ],
      button: { label: 'View limits', link: page('limits') },
      more: [`If this was not you, reissue the key: ${page('key')}`],
    }),
    'limits-loosened': ({ dayLimit, velocity, atMs, address }, { brand, page, time, credits }) => ({
      subject: `Your ${brand} spending limits were relaxed`,
      lines: [
        'Your spending limits were relaxed on ' +
          `${time(atMs)}${address === '' ? '' : ` (${address})`}.`,
        `Daily limit: ${dayLimit === null ? 'none' : credits(dayLimit)}. Spending rate limit: ${
          velocity === null ? 'none.' : `${credits(velocity.limit)} within ${velocity.minutes} min.`
        }`,
        'If this was you, no action is needed.',
      ],
      button: { label: 'This was not me', link: page('security') },
      more: ['If this was not you, change your password and end all other sessions immediately.'],
    }),
  },
}

function durationPhrase(days: number): string {
  if (days === 0) return 'they will last less than a day'
  return `they will last about ${days} ${days === 1 ? 'day' : 'days'}`
}
