// The pages that everybody may read, in English: pricing, how billing works, the service status.

import type { Same } from '../ru/ru.ts'
import type { visitors as ru } from '../ru/visitors.ts'

export const visitors: Same<typeof ru> = {
  site: {
    label: 'About the service',
    title: 'Product',
    prices: 'Pricing',
    charging: 'How billing works',
    chargingShort: 'Billing',
    status: 'Service status',
    statusShort: 'Status',
    signIn: 'Sign in',
    register: 'Sign up',
    cabinet: 'Dashboard',
  },
  prices: {
    title: 'Pricing',
    description:
      'Model coefficients, credit packs in roubles and a calculator: what a request costs and ' +
      'how long a pack lasts.',
    lead: 'Requests are priced in credits, by token. You pay in roubles only for credit packs.',
    packs: 'Packs',
    packsHint: 'Larger packs cost less per credit. Credits never expire.',
    register: 'Sign up and buy',
    buy: 'Buy',
    closed: 'Purchases are temporarily unavailable.',
    example: 'Example',
    exampleText:
      '{{model}}: a request with {{input}} input and {{output}} output tokens costs {{formula}}. ' +
      'With a pack of {{pack}}, that is {{rubles}}.',
    none: 'Prices have not been published yet.',
    calculator: {
      title: 'Calculator',
      hint:
        'Enter your average request and the number of requests per day. The page link includes ' +
        'your numbers.',
      model: 'Model',
      input: 'Input tokens',
      output: 'Output tokens',
      cacheRead: 'Cache read tokens',
      cacheWrite: 'Cache write tokens, 5 minutes',
      requests: 'Requests per day',
      uses: '{{tool}}: uses',
      wrong: 'Enter a whole number up to 999,999,999.',
      wrongUses: 'Enter a whole number up to {{max}}.',
      list: 'Prices applied: {{list}}.',
      perRequest: 'Per request',
      perDay: 'Per day',
      perMonth: 'Per 30 days',
      table: 'How long each pack lasts',
      pack: 'Pack',
      month: 'Per 30 days',
      lasts: 'Lasts',
      days_one: '{{shown}} day',
      days_other: '{{shown}} days',
      underDay: 'Less than a day',
      never: 'No usage',
      rounding: 'Roubles are rounded up, days down.',
      rate: 'Amounts in roubles are {{source}}.',
      correct: 'Correct the marked fields to see the cost.',
    },
  },
  charging: {
    title: 'How billing works',
    description: 'What a request costs, what an interrupted response costs and what is free.',
    lead: 'You pay for what the model reads and writes for you, and never for failures.',
    formula: 'How the cost is calculated',
    formulaLine: 'credits = input tokens + output tokens × coefficient',
    formulaText:
      'The model counts the tokens and reports them in the usage field of its response. Each ' +
      'model has its own coefficient, listed on the <a>Pricing page</a>. Nothing is rounded: ' +
      'amounts are exact to a millionth of a credit.',
    cacheText:
      'Tokens read from the cache and written to it are counted separately from input tokens. ' +
      'They have their own price per token, listed next to the coefficient.',
    moreText:
      'Some models have more prices: an input token may cost more or less than one credit, long ' +
      'prompts may cost more, fast mode or a data region may multiply the price of all tokens, ' +
      'and a tool may cost credits for each use. They, too, are listed on the Pricing page and ' +
      'in the cost breakdown of each request.',
    hold: 'What is reserved during a request',
    holdText:
      'Before each request we reserve the maximum it can cost. When the response is complete, we ' +
      'charge the actual cost and release the rest immediately. If a request could ' +
      'cost more than what is left of your balance or daily limit, we reserve half of that and ' +
      'reduce max_tokens to fit, but never below what a short response needs.',
    holdMore:
      'We never charge more than we reserved: if the actual cost is higher, you do not pay the ' +
      'difference.',
    endings: 'What each outcome costs',
    whole: 'The full response arrived',
    wholeCost: 'Charged by the model’s token count',
    refused: 'Rejected before a response began: an error in the request, overload, too few credits',
    refusedCost: 'Free',
    broken: 'The model failed in the middle of its response',
    brokenCost: 'Free. The stream contains an error event',
    ours: 'A failure on our side during the response',
    oursCost: 'Free. The reserved credits are released automatically',
    leftStream: 'You closed a stream before its end',
    leftStreamCost:
      'Input tokens and the output tokens generated so far. If the model has not reported them ' +
      'yet, we estimate them from the text length and mark the request “Estimate” in the log',
    leftPlain: 'You disconnected while waiting for a non-streaming response',
    leftPlainCost:
      'Same as a full response: the model keeps generating it, and we read it to the end',
    leftEarly: 'You disconnected before the response began',
    leftEarlyCost: 'Free, or only the input tokens if the model had already read the request',
    estimate: 'How estimates are made',
    estimateText:
      'One token per four bytes of Latin text and symbols, or per three bytes of any other text. ' +
      'An estimate never exceeds the reserved amount.',
    free: 'What is always free',
    freeCount: 'Token counting: POST /v1/messages/count_tokens',
    freeModels: 'The list of models and your balance: GET\u00a0/v1/models and GET\u00a0/v1/me',
    freeNo: 'Any error response',
    zero: 'When credits run out',
    zeroText:
      'New requests are rejected with a clear error until you top up. Your key stays the same.',
  },
  status: {
    title: 'Service status',
    description:
      'Whether the API, models, payments and e-mails work now, and how the last 90 days went.',
    at: 'As of {{time}}.',
    allWell: 'All systems operational',
    measuredWell: 'Everything we measure is operational',
    nothingMeasured: 'The status is not measured yet',
    nothingKnown: 'The status is unknown right now',
    someSlow: 'Operational with limitations',
    someDown: 'Partial outage',
    allDown: 'The service is unavailable',
    incidentOpen: 'We are dealing with an incident',
    stale: 'The current status cannot be read',
    staleText: 'Below is what was known at {{time}}. It may have changed since.',
    parts: 'Components over 90 days',
    active: 'Now and coming up',
    past: 'Past events',
    outages: 'Outages seen by our probes',
    noOutages: 'Our probes saw no outage in this time.',
    allOutages: 'Show all ({{count}})',
    goesOn: 'Ongoing',
    since: 'Since {{from}}',
    span: '{{from}} – {{to}}',
    uptime: 'Available {{percent}}% of the observed time.',
    observed: 'Observed {{percent}}% of the time.',
    utc: 'Days are in UTC.',
    noUptime: 'Availability is not measured yet.',
    feed: 'Subscribe to updates (Atom)',
    part: {
      gateway: 'API',
      models: 'Models',
      payments: 'Payments and top-ups',
      letters: 'E-mails',
    },
    state: {
      working: 'Operational',
      slow: 'Delayed',
      down: 'Unavailable',
      maintenance: 'Maintenance',
      paused: 'Paused',
      unknown: 'Unknown',
      unmeasured: 'Not measured',
    },
    kind: { incident: 'Incident', maintenance: 'Maintenance' },
    incident: {
      investigating: 'Investigating',
      identified: 'Cause found',
      watching: 'Monitoring',
      planned: 'Scheduled',
      closed: 'Resolved',
    },
    legend: {
      working: 'operational',
      failed: 'outage',
      planned: 'maintenance or pause',
      unknown: 'not observed',
    },
    day: {
      slider: '{{part}}: status by day',
      oldest: '90 days ago',
      today: 'today',
      text: '{{day}}: {{text}}',
      well: 'no failures',
      nothing: 'no data',
      before: 'There were no probes yet',
      failed: 'failed for {{time}}',
      planned: 'maintenance or pause for {{time}}',
      unknown: 'not observed for {{time}}',
      list_one: '{{count}} day with remarks',
      list_other: '{{count}} days with remarks',
    },
    text: {
      gateway: 'Accepts requests at our base URL.',
      models: 'Responses from models.',
      payments: 'Credits are added within a minute of payment.',
      letters: 'Confirmations, receipts and alerts.',
    },
    support: 'Seeing something different? E-mail us: <a>{{email}}</a>.',
  },
}
