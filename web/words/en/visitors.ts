// The pages that everybody may read, in English: the front page, prices, the rules of charging, the
// quick start, the state of the service.

import type { Same } from '../ru/ru.ts'
import type { visitors as ru } from '../ru/visitors.ts'

export const visitors: Same<typeof ru> = {
  site: {
    label: 'About the service',
    title: 'Service',
    prices: 'Prices',
    charging: 'How we charge',
    chargingShort: 'Charging',
    start: 'Quick start',
    status: 'Service status',
    statusShort: 'Status',
    signIn: 'Sign in',
    register: 'Register',
    cabinet: 'My account',
  },
  front: {
    title: 'Language models over an API, paid in roubles',
    description:
      'Prepaid access to language models: one key, packs of credits in roubles, any program for ' +
      'the official Messages API.',
    lead:
      'Buy a pack of credits, get a key and enter our address in a program that works with the ' +
      'official Messages API. Nothing else changes.',
    from: 'Packs from {{rubles}}',
    fromText: '{{credits}}. One input token is one credit. Credits do not expire.',
    prices: 'See the prices',
    steps: 'How it works',
    step: {
      register: 'Register',
      registerText: 'All it takes is an e-mail address and a password.',
      buy: 'Buy a pack',
      buyText: 'By card or SBP. Credits arrive within a minute, the receipt by e-mail.',
      key: 'Create a key',
      keyText: 'Only you see its value: we keep a fingerprint.',
      call: 'Change the address',
      callText: 'Your libraries and programs stay; only the address and the key differ.',
    },
    address: 'Address for programs',
    promises: 'What we promise',
    promise: {
      exact: 'Every charge can be checked',
      exactText: 'The log shows tokens, coefficient and price of each request, to the last digit.',
      free: 'Failures are free',
      freeText:
        'If a reply breaks off through the model’s fault or ours, the request costs nothing.',
      silent: 'We do not keep your texts',
      silentText: 'Neither requests nor replies. Only token counts and times.',
      limit: 'You cannot spend more than you have',
      limitText: 'Payment is in advance. No debts for requests and no surprise bills.',
    },
  },
  prices: {
    title: 'Prices',
    description:
      'Coefficients of models, packs of credits in roubles and a calculator: what a request ' +
      'costs and how long a pack lasts.',
    lead: 'The price of a request is made of tokens. Money only buys packs.',
    packs: 'Packs',
    packsHint: 'The larger the pack, the cheaper the credit. Credits do not expire.',
    register: 'Register and buy',
    buy: 'Buy',
    closed: 'Purchases are closed for now.',
    example: 'Example',
    exampleText:
      '{{model}}: a request of {{input}} input and {{output}} output tokens costs {{formula}}. ' +
      'Out of the pack “{{pack}}” that is {{rubles}}.',
    none: 'The price list is not published yet.',
    calculator: {
      title: 'Calculator',
      hint: 'An average request, and how many a day. The page’s address remembers the numbers.',
      model: 'Model',
      input: 'Input tokens',
      output: 'Output tokens',
      cacheRead: 'Read from cache',
      cacheWrite: 'Written to cache for 5 minutes',
      requests: 'Requests a day',
      wrong: 'A whole number up to 999,999,999.',
      perRequest: 'One request',
      perDay: 'A day',
      perMonth: '30 days',
      table: 'How long packs last',
      pack: 'Pack',
      month: '30 days',
      lasts: 'Lasts',
      days_one: '{{shown}} day',
      days_other: '{{shown}} days',
      underDay: 'less than a day',
      never: 'nothing is spent',
      rounding: 'Roubles are rounded up, days down.',
    },
  },
  charging: {
    title: 'How we charge',
    description: 'What a request costs, what a broken reply costs and what is free.',
    lead: 'In short: you pay for what the model read and wrote for you, and not for failures.',
    formula: 'What a price is made of',
    formulaLine: 'credits = input tokens + output tokens × coefficient',
    formulaText:
      'The model itself counts tokens and reports them in the reply, in the field usage. Each ' +
      'model has its coefficient, listed on the <a>page of prices</a>. Nothing is rounded: we ' +
      'count to a millionth of a credit.',
    cacheText:
      'Tokens read from the cache and written to it are counted apart from input tokens. They ' +
      'have a price of their own, listed beside the coefficient.',
    hold: 'What is set aside during a request',
    holdText:
      'Before a request we set aside what it can cost at worst. When the reply is over, the real ' +
      'price is charged and the rest comes back at once. If the balance is smaller, we lower ' +
      'max_tokens so that it suffices.',
    holdMore:
      'More than was set aside is never charged: if the price is higher, we do not take the ' +
      'difference.',
    endings: 'What a request costs, however it ends',
    whole: 'The reply arrived in full',
    wholeCost: 'By the model’s token count',
    refused: 'Refused before a reply began: a mistake in the request, overload, too few credits',
    refusedCost: 'Nothing',
    broken: 'The model broke off in the middle of its reply',
    brokenCost: 'Nothing. The stream carries an error event',
    ours: 'A failure on our side during the reply',
    oursCost: 'Nothing. What was set aside comes back by itself',
    leftStream: 'You closed a stream before its end',
    leftStreamCost:
      'The input tokens and the output tokens written so far. If the model had no time to report ' +
      'them, we count from the length of the text, and the log says “estimate”',
    leftPlain: 'You disconnected while waiting for a reply without streaming',
    leftPlainCost: 'As for a whole reply: the model is writing it for you, and we read to its end',
    leftEarly: 'You disconnected before the reply began',
    leftEarlyCost: 'Nothing; if the model had read the request already, only the input tokens',
    estimate: 'How an estimate is made',
    estimateText:
      'One token for four bytes of Latin text and signs, or for three bytes of any other text. ' +
      'An estimate is never above what was set aside.',
    free: 'What is always free',
    freeCount: 'counting tokens: POST /v1/messages/count_tokens',
    freeModels: 'the list of models and your balance: GET /v1/models and GET /v1/me',
    freeNo: 'any answer that is an error',
    zero: 'When credits run out',
    zeroText: 'New requests get a clear error until you top up. The key stays the same.',
  },
  begin: {
    title: 'Quick start',
    description:
      'Ready examples for curl, Python, TypeScript, AI SDK, LangChain and programs of the ' +
      'terminal: change the address and the key.',
    lead: 'From registration to the first reply in a few minutes.',
    first:
      'The key is created in your account after the first purchase. There the examples come with ' +
      'your key in them.',
    streams: 'Streams and errors',
    streamsText:
      'Streams, tools, images and caching work as in the official API. Errors have its shape, ' +
      'with the request’s id in the header request-id.',
    more: 'What it costs: <a>prices</a> and <b>how we charge</b>.',
  },
  status: {
    title: 'Service status',
    description: 'Whether the API, models, payments and letters work right now.',
    at: 'Checked {{time}}.',
    allWell: 'Everything works',
    someSlow: 'Works with delays',
    someDown: 'A part of the service is unavailable',
    part: {
      gateway: 'API for programs',
      models: 'Models',
      payments: 'Payments and crediting',
      letters: 'Letters',
    },
    state: {
      working: 'works',
      slow: 'delayed',
      down: 'unavailable',
      paused: 'paused',
      unknown: 'unknown',
    },
    text: {
      gateway: 'Taking requests at our address.',
      models: 'Replies of models.',
      payments: 'What was paid is credited within a minute.',
      letters: 'Confirmations, receipts and notices.',
    },
    support: 'Do you see something else? Write to us: <a>{{email}}</a>.',
  },
}
