// The key and the first request, in English.
import type { key as ru } from '../ru/key.ts'
import type { Same } from '../ru/ru.ts'

export const key: Same<typeof ru> = {
  key: {
    title: 'API key',
    lead: 'One key per account. Only you have it.',
    locked: 'You can create a key after your first purchase',
    lockedText:
      'Requests with the key spend your credits, so buy a credit pack first. You can create the ' +
      'key here as soon as your payment arrives.',
    lockedAction: 'Choose a pack',
    none: 'No key yet',
    noneText:
      'The key is created once and stays in this browser. We cannot show or recover it, but you ' +
      'can reissue it at any time.',
    create: 'Create key',
    creating: 'Creating key…',
    value: 'Key',
    masked: 'Hidden key ending in {{last4}}',
    show: 'Show',
    hide: 'Hide',
    hiddenAgain: 'The key is hidden again.',
    shown_one: 'The key will be hidden in {{count}} second.',
    shown_other: 'The key will be hidden in {{count}} seconds.',
    copy: 'Copy key',
    download: 'Download {{file}}',
    downloaded: 'Saved as {{file}}. If your program reads .env, rename the file.',
    createdAt: 'Created',
    lastUsedAt: 'Last used',
    neverUsed: 'Not used yet',
    gone: 'The key in this browser could not be read. Paste it again or reissue it.',
    created: 'Key created',
    createdText:
      'Save it in your password manager: if this browser’s data is cleared, we cannot recover it.',
    reissued: 'Your new key is active',
    reissuedText:
      'The old key no longer works. Replace it in your programs and save the new one in your ' +
      'password manager.',
    warning: 'Keep your key secret',
    warningText:
      'Anyone who has it can spend your balance. Do not put it in repositories, screenshots or ' +
      'code that runs in a browser.',
    absent: 'Your key is not in this browser',
    absentText:
      'The key ending in {{last4}} is active, but it is stored elsewhere: in another browser or ' +
      'in your password manager. Paste it here or reissue it.',
    paste: 'Your key',
    pasteHint: 'It starts with {{prefix}}. We check it and store it in this browser only.',
    pasteAction: 'Save in this browser',
    pasteMissing: 'Paste the key.',
    pasteWrong: 'This is not your active key.',
    pasted: 'The key is saved in this browser.',
    reissue: 'Reissue key',
    reissueTitle: 'Reissue the key?',
    reissueText: 'You get a new key, and the old one stops working immediately.',
    reissueStops:
      'Programs that use the old key will get error 401 until you replace it. Requests that are ' +
      'already running will finish as usual.',
    reissueKeeps: 'Your balance and history stay the same.',
    reissueConfirm: 'Reissue key',
    revoke: 'Revoke key',
    revokeTitle: 'Revoke the key now?',
    revokeText:
      'The key stops working immediately, before you create a new one. Do this if someone else ' +
      'may have seen it.',
    revokeConfirm: 'Revoke key',
    revoked: 'Key revoked. Create a new one when you are ready.',
    trouble: 'Reissue or revoke',
    reissueHint: 'Lost your key, or time to change it? Replace it with a new one.',
    revokeHint: 'Key leaked or stolen? Revoke it immediately.',
    unfinished: 'Your new key is not active yet',
    unfinishedText:
      'It is stored in this browser, but the last step of creating it was interrupted. Finish it ' +
      'or start over.',
    unfinishedOld: 'The old key still works.',
    finish: 'Finish',
    restart: 'Start over',
    notKept: 'This browser cannot store the key',
    notKeptText:
      'Its storage is blocked or full, which happens in private windows. Save the key yourself ' +
      'now: we will not show it again.',
    notKeptTick: 'I have saved the key in a safe place',
    notKeptDone: 'Activate key',
    closed: 'This browser does not let us store the key',
    closedText:
      'This happens in private windows, when site data is blocked, or without a secure ' +
      'connection. Everything else works: keep the key in your password manager.',
  },
  start: {
    title: 'Quick start',
    lead: 'Any program for the official API works: just change the base URL and the key.',
    base: 'Base URL',
    model: 'Model',
    withKey: 'Show key',
    withoutKey: 'Hide key',
    copy: 'Copy with key',
    copyPlain: 'Copy',
    noKey: 'Replace {{placeholder}} with your key.',
    clients: 'Programs and libraries',
    code: 'Example: {{name}}',
    tabs: {
      curl: 'curl',
      python: 'Python',
      typescript: 'TypeScript',
      aiSdk: 'AI SDK',
      langchain: 'LangChain',
      claudeCode: 'Claude Code',
      opencode: 'opencode',
      agents: 'Other',
    },
    note: {
      curl: 'Paste it into a terminal. The response takes a few seconds.',
      python: 'Install first: pip install anthropic',
      typescript: 'Install first: npm install @anthropic-ai/sdk',
      aiSdk: 'Install first: npm install ai @ai-sdk/anthropic. Here the base URL ends in /v1.',
      langchain: 'Install first: npm install @langchain/anthropic @langchain/core',
      claudeCode:
        'Set these variables in a terminal. To keep them, add them to the env block of ' +
        '~/.claude/settings.json, not to a project file, which would end up in the repository.',
      opencode: 'Put it in ~/.config/opencode/opencode.json. Here the base URL ends in /v1.',
      agents:
        'The official libraries and programs built on them, such as Qwen Code, read these ' +
        'variables. If a program asks for the URL in its settings, as Continue does, enter it ' +
        'there.',
    },
    windows: 'In Windows PowerShell, use $env:NAME="value" instead of export.',
    waiting: 'Waiting for your first request',
    waitingText: 'Run any of the examples. This page updates automatically.',
    arrived: 'First request received',
    arrivedText: '{{model}}: {{credits}}, {{time}}. You are all set.',
    arrivedPlain: 'You are all set.',
    lastSeen: 'Last request {{time}}: {{model}}, {{credits}}.',
    lastSeenFormer: 'Last request {{time}}, with a former key: {{model}}, {{credits}}.',
  },
  try: {
    title: 'Try it here',
    lead: 'Sends one message with the key of this browser. It costs credits like any request.',
    message: 'Message',
    example: 'Say hello in one sentence.',
    costMax: 'At most {{credits}} credits; the response has up to {{tokens}} tokens.',
    send: 'Send',
    sending: 'Waiting for the response',
    you: 'You',
    cut: 'The response was cut at its limit.',
    cost: 'Cost',
    left: 'Left',
    request: 'Request',
    problem: {
      key: 'The key was not accepted',
      credits: 'Not enough credits, or one of your limits was reached',
      stopped: 'Requests of this account are stopped',
      busy: 'The model is busy: try again in a minute',
      model: 'This model is not available',
      unreachable: 'The API could not be reached from this browser',
      other: 'The request was rejected',
    },
  },
}
