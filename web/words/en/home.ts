// The overview, in English: balance, what it is worth, usage, first steps.
import type { home as ru } from '../ru/home.ts'
import type { Same } from '../ru/ru.ts'

export const home: Same<typeof ru> = {
  home: {
    requests_one: '{{shown}} request',
    requests_other: '{{shown}} requests',
    title: 'Overview',
    topUp: 'Top up',
    balance: {
      available: 'Available',
      held: 'Reserved',
      heldText: 'For requests in progress. Unused credits are released as soon as a request ends.',
      worth: 'Value',
      worthValue: 'About {{rubles}}',
      worthText: 'At the price of your last purchase: {{rubles}} per million credits, rounded up.',
      left: 'Will last',
      leftDays_one: 'About {{count}} day',
      leftDays_other: 'About {{count}} days',
      leftUnderDay: 'Less than a day',
      leftOverYear: 'More than a year',
      leftUnknown: 'Shown after your first requests',
      leftIdle: 'No requests lately',
      leftText_one: 'Based on the last 24 hours: {{credits}} per day.',
      leftText_other: 'Based on the last {{count}} days: {{credits}} per day.',
      unit: 'What a token costs depends on the model: see the Pricing page.',
    },
    notice: {
      low: 'Your credits are running low',
      lowText: 'Less than a tenth of your last pack is left. Top up to avoid interruptions.',
      lowCreditsText:
        'Your balance is below your alert threshold: {{credits}}. Top up to avoid interruptions.',
      lowDaysText_one:
        'At this rate your credits will last less than {{count}} day, your alert threshold. Top ' +
        'up to avoid interruptions.',
      lowDaysText_other:
        'At this rate your credits will last less than {{count}} days, your alert threshold. Top ' +
        'up to avoid interruptions.',
      empty: 'You are out of credits',
      emptyText: 'Requests are rejected until you top up. Your key stays the same.',
      dayLimit: 'A request exceeded your daily limit',
      dayLimitText:
        'It was rejected: it could cost {{needed}}. You have {{left}} left of your daily limit ' +
        'of {{limit}}, which resets at {{clock}} your time.',
      debt: 'You owe {{credits}}',
      debtSmall: 'You owe less than one credit',
      debtText:
        'A purchase was refunded or charged back after some of its credits had been spent. ' +
        'Requests are rejected while you owe credits. Your next purchase covers them first.',
      operatorBlocked: 'We have blocked your requests',
      operatorBlockedText: 'Contact us to resolve this: {{email}}.',
      ownerSuspended: 'You have paused your requests',
      ownerSuspendedText: 'New requests are rejected until you resume them.',
      velocityStopped: 'Requests stopped: unusually high spending',
      velocityStoppedText:
        'Your spending rate limit was exceeded. Check your latest requests: if they are yours, ' +
        'resume; if not, reissue the key.',
      resume: 'Resume',
      limits: 'View limits',
    },
    steps: {
      title: 'Get started',
      lead: 'Three steps to your first model response. We tick them off automatically.',
      trial: 'To try it you have {{credits}}',
      buy: 'Buy a credit pack',
      buyText: 'Pay by card or SBP. Credits arrive within a minute.',
      buyAction: 'Choose a pack',
      key: 'Create your API key',
      keyText: 'It is stored in this browser. We store only a hash of it.',
      keyAction: 'Create key',
      request: 'Send your first request',
      requestText:
        'The API key page has an example with your key. We detect the request automatically.',
      requestAction: 'View examples',
      isDone: 'done',
      isNow: 'current step',
      isLater: 'to do',
      allDone: 'Your first request went through',
      allDoneText: 'You are all set. From now on, this page shows where your credits go.',
    },
    usage: {
      title: 'Daily usage',
      none: 'No requests yet',
      noneText: 'A chart of your daily usage will appear here after your first request.',
      summary: 'Last {{days}}: {{credits}}, {{requests}}.',
      days_one: '{{count}} day',
      days_other: '{{count}} days',
      today: 'Today',
      asTable: 'Show as table',
      day: 'Day',
      credits: 'Credits',
      requests: 'Requests',
      zone: 'Days are in the {{zone}} time zone.',
    },
    latest: {
      title: 'Latest requests',
      hint: 'We do not store the content of requests or responses.',
      time: 'Time',
      model: 'Model',
      counts: 'Tokens',
      countsValue: '{{input}} → {{output}}',
      countsRead: '{{input}} in, {{output}} out',
      countsCached: '{{cached}} cached',
      credits: 'Credits',
      free: 'Free',
      freeText:
        'The request was rejected or failed through no fault of yours. You were not charged.',
      request: 'Request ID',
    },
  },
}
