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
      held: 'Set aside',
      heldText:
        'For requests that are running right now. What they do not need comes back the moment ' +
        'they end.',
      worth: 'In roubles',
      worthValue: 'about {{rubles}}',
      worthText: 'At the price of your last purchase: {{rubles}} per million credits.',
      left: 'Will last',
      leftDays_one: 'about {{count}} day',
      leftDays_other: 'about {{count}} days',
      leftUnderDay: 'less than a day',
      leftOverYear: 'more than a year',
      leftUnknown: 'we will tell once requests come in',
      leftText_one: 'At {{credits}} a day, as today.',
      leftText_other: 'At {{credits}} a day, as over the last {{count}} days.',
      unit: 'One input token of a model is one credit.',
    },
    notice: {
      low: 'Credits are running out',
      lowText: 'Less than a tenth of your last pack is left. Top up in good time.',
      lowCreditsText: 'Less than {{credits}} is left, the line you set. Top up in good time.',
      lowDaysText_one:
        'At your pace it is less than {{count}} day, the line you set. Top up in good time.',
      lowDaysText_other:
        'At your pace it is less than {{count}} days, the line you set. Top up in good time.',
      empty: 'You are out of credits',
      emptyText: 'Requests are refused for now. Top up: your key stays the same.',
      debt: 'Your balance has a debt: {{credits}}',
      debtSmall: 'Your balance has a debt of less than a credit',
      debtText:
        'The money of a purchase went back to the payer, and part of its credits had been spent. ' +
        'While there is a debt, requests are refused. The next purchase pays it first.',
      operatorBlocked: 'We have stopped your requests',
      operatorBlockedText: 'Write to us to sort it out: {{email}}.',
      ownerSuspended: 'You have paused your requests',
      ownerSuspendedText: 'New requests are refused until you end the pause.',
      velocityStopped: 'Requests are stopped: spending rose sharply',
      velocityStoppedText:
        'Your speed limit did this. Look at the latest requests: if they are yours, resume them; ' +
        'if not, reissue the key.',
      resume: 'Resume',
      limits: 'Limits',
    },
    steps: {
      title: 'Getting started',
      lead: 'Three steps to the first reply of a model. The list ticks itself.',
      buy: 'Buy a pack of credits',
      buyText: 'By card or by SBP. The credits arrive within a minute.',
      buyAction: 'Choose a pack',
      key: 'Create your key',
      keyText: 'It appears in this browser. We keep only its fingerprint.',
      keyAction: 'Create the key',
      request: 'Send your first request',
      requestText: 'The key page has an example with your key. We will notice the request.',
      requestAction: 'Open the examples',
      isDone: 'done',
      isNow: 'now',
      isLater: 'later',
      allDone: 'Your first request went through',
      allDoneText: 'Everything works. From now on you will see here where the credits go.',
    },
    usage: {
      title: 'Usage by day',
      none: 'No requests yet',
      noneText: 'Bars by day will appear here as soon as requests come in.',
      summary: 'Over {{days}}: {{credits}}, {{requests}}.',
      days_one: '{{count}} day',
      days_other: '{{count}} days',
      today: 'Today',
      asTable: 'Show as a table',
      day: 'Day',
      credits: 'Credits',
      requests: 'Requests',
      zone: 'Days in the time zone {{zone}}.',
    },
    latest: {
      title: 'Latest requests',
      hint: 'We do not keep the text of requests or replies.',
      time: 'Time',
      model: 'Model',
      counts: 'Tokens',
      countsValue: '{{input}} → {{output}}',
      countsRead: '{{input}} in, {{output}} out',
      countsCached: '{{cached}} cached',
      credits: 'Credits',
      free: 'free',
      freeText: 'The request failed through no fault of yours or was refused: nothing was charged.',
      request: 'Request number',
    },
  },
}
