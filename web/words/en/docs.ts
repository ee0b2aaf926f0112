// The words around the documentation, in English; its texts are in docs/.

import type { docs as ru } from '../ru/docs.ts'
import type { Same } from '../ru/ru.ts'

export const docs: Same<typeof ru> = {
  title: 'Documentation',
  parts: 'Documentation sections',
  sections: {
    start: 'Get started',
    clients: 'Clients',
    reference: 'Reference',
  },
  pages: {
    'quick-start': 'Quick start',
    usage: 'Cost of requests',
    charging: 'Billing',
    curl: 'curl',
    typescript: 'TypeScript',
    python: 'Python',
    'ai-sdk': 'AI SDK',
    langchain: 'LangChain',
    'claude-code': 'Claude Code',
    opencode: 'OpenCode',
    'coding-agents': 'Other agents',
    'other-clients': 'Other languages and libraries',
    api: 'API reference',
    errors: 'Errors',
    settings: 'Server settings',
    versioning: 'Versioning',
  },
  search: 'Search the documentation',
  searchShort: 'Search',
  searchHint: 'An error code, a setting, a word…',
  searchHelp: 'Arrow keys choose a result, Enter opens it, Esc closes.',
  results: 'Results',
  found_one: '{{count}} section found',
  found_other: '{{count}} sections found',
  onPage: 'On this page',
  previous: 'Previous',
  next: 'Next',
  neighbours: 'Pages before and after',
  linkTo: 'Link to “{{title}}”',
  values: 'Your values in the examples',
  key: 'Your key',
  keyOfGuest:
    'The examples have the beginning of a key. <a>Sign in</a> or <b>sign up</b>, and your key ' +
    'appears here.',
  keyElsewhere:
    'This browser does not have your key, so the examples have the beginning of one. Create or ' +
    'paste your key on the <a>key page</a>.',
}
