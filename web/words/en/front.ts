// The front page, in English.

import type { front as ru } from '../ru/front.ts'
import type { Same } from '../ru/ru.ts'

export const front: Same<typeof ru> = {
  title: 'Language model API, paid in roubles',
  description:
    'Prepaid access to language models: one API key, credit packs in roubles, any program made ' +
    'for the official Messages API.',
  lead:
    'One key, paid by card or SBP. It works with programs made for the official Messages API: ' +
    'change the base URL and the key in them.',
  trial:
    'New accounts get {{credits}} to try it, without a payment: once per person, while the ' +
    'day’s allowance lasts.',
  from: 'Packs from {{rubles}}',
  prices: 'See pricing',
  fact: {
    methods: 'Card or SBP, receipt by e-mail',
    forever: 'Credits never expire',
  },
  client: {
    curl: 'curl',
    typescript: 'TypeScript',
    python: 'Python',
    claudeCode: 'Agent',
  },
  difference: {
    title: 'Two lines change',
    clients: 'Programs',
    example: 'What changes: {{client}}',
    address: 'previous-address',
    key: 'previous-key',
    removed: 'Before:',
    added: 'After:',
    more: 'From sign-up to the first response: quick start',
  },
  programs: {
    title: 'Works with the programs you use',
    lead: 'Each has a page with settings that are ready to copy and paste.',
  },
  sum: {
    title: 'Know the cost of a request in advance',
    lead: 'Tokens times the price of the model. Change the numbers and see the result.',
    input: 'input tokens × price',
    output: 'output tokens × coefficient',
    usage: 'The model reports the token counts in every response, in the field usage.',
    rules: 'How billing works',
  },
  models: {
    title: 'Models and prices',
    lead: 'Per million tokens. Tokens read from the cache cost a fraction of input tokens.',
    context: 'Context: {{tokens}} tokens',
    input: 'Input',
    output: 'Output',
    cacheRead: 'Cache read',
    credits: '{{credits}} per token',
    all: 'All models and prices: {{count}}',
  },
  work: {
    title: 'What everyday work costs',
    lead: 'Computed from the price list. The token counts are typical; yours will differ.',
    what: 'Work',
    question: 'A short question',
    questionText: '300 input tokens, 400 output tokens',
    document: 'Summary of a 20-page document',
    documentText: '16,000 input tokens, 800 output tokens',
    dialogue: 'A conversation of ten questions',
    dialogueText: 'Each question is sent with the whole conversation, without a cache',
    letters: 'Sorting a thousand messages by topic',
    lettersText: '1,000 requests of 400 input and 20 output tokens',
    agent: 'An hour of a coding agent with cache',
    agentText:
      '60 requests, each with 60,000 tokens read from the cache, 2,000 written to it, 700 output',
    rounding: 'Roubles are rounded up.',
    calculator: 'Calculate your own case',
  },
  promises: 'What we promise',
  promisesLead: 'And how it works: below each promise is a link to its rule.',
  promise: {
    how: 'How it works',
    howFor: 'How it works: {{promise}}',
    exact: 'You can check every charge',
    exactText: 'The log shows the tokens, the coefficient and the exact cost of each request.',
    free: 'Failures are free',
    freeText: 'If a response is cut off by the model or by us, the request is free.',
    silent: 'We do not store your content',
    silentText: 'No prompts, no responses. Only token counts and timestamps.',
    limit: 'You never spend more than you have',
    limitText:
      'You pay in advance, so requests never put you in debt and there are no surprise bills.',
    key: 'Only you have the key',
    keyText: 'We store only a hash of the key. If you lose it, reissue it immediately.',
    refund: 'You can get a refund',
  },
  packs: 'Credit packs',
  packsLead: 'No subscription: you buy a pack once, and credits never expire.',
  steps: 'How to begin',
  step: {
    register: 'Sign up',
    registerText: 'All you need is an e-mail address and a password.',
    buy: 'Buy a pack',
    buyText: 'Pay by card or SBP. Credits arrive within a minute, the receipt by e-mail.',
    key: 'Create a key',
    keyText: 'Only you can see it: we store only a hash.',
    call: 'Change the base URL',
    callText: 'Keep your tools and libraries. Only the base URL and the key change.',
  },
}
