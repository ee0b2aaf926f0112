// The key and the first request, in English.
import type { key as ru } from '../ru/key.ts'
import type { Same } from '../ru/ru.ts'

export const key: Same<typeof ru> = {
  key: {
    title: 'API key',
    lead: 'One key per account. Only you have its value.',
    locked: 'The key appears after your first purchase',
    lockedText:
      'A key is tied to a balance, so a pack of credits comes first. As soon as the payment ' +
      'arrives, “Create the key” appears here.',
    lockedAction: 'Choose a pack',
    none: 'There is no key yet',
    noneText:
      'The key is made once and stays in this browser. We cannot show or restore it, but you can ' +
      'reissue it at any time.',
    create: 'Create the key',
    creating: 'Creating the key…',
    value: 'Key',
    masked: 'hidden key ending in {{last4}}',
    show: 'Show',
    hide: 'Hide',
    hiddenAgain: 'The key is hidden again.',
    shown_one: 'The key hides itself in {{count}} second.',
    shown_other: 'The key hides itself in {{count}} seconds.',
    copy: 'Copy',
    download: 'Download .env',
    createdAt: 'Created',
    lastUsedAt: 'Last request',
    neverUsed: 'none yet',
    gone: 'The key in this browser could not be read. Paste it again or reissue it.',
    created: 'The key is created',
    createdText:
      'Save it in your password manager: if this browser’s data is cleared, we cannot restore it.',
    reissued: 'The new key is in force',
    reissuedText:
      'The old key is no longer accepted. Replace it in your programs and save the new one in ' +
      'your password manager.',
    warning: 'Whoever knows the key spends your balance',
    warningText:
      'Do not publish it in repositories, on screenshots or in code that runs in a browser.',
    absent: 'This browser does not have the key',
    absentText:
      'The key ending in {{last4}} works, but it is kept elsewhere: in another browser or in ' +
      'your password manager. Paste it here or reissue it.',
    paste: 'Your key',
    pasteHint: 'It begins with {{prefix}}. We check it and store it in this browser only.',
    pasteAction: 'Store in this browser',
    pasteMissing: 'Paste the key.',
    pasteWrong: 'This is not the key that is in force now.',
    pasted: 'The key is stored in this browser.',
    reissue: 'Reissue',
    reissueTitle: 'Reissue the key?',
    reissueText: 'You get a new key, and the old one stops at once.',
    reissueStops:
      'Programs with the old key get error 401 until you replace it. Requests that are already ' +
      'running end as usual.',
    reissueKeeps: 'Your balance and history stay with you.',
    reissueConfirm: 'Reissue',
    revoke: 'Switch the key off',
    revokeTitle: 'Switch the key off now?',
    revokeText:
      'The key stops at once, before you create a new one. Do this if somebody else may have ' +
      'seen it.',
    revokeConfirm: 'Switch off',
    revoked: 'The key is off. Create a new one when you are ready.',
    trouble: 'If something is wrong',
    reissueHint: 'You lost the value, or it is time for a change: a new key replaces the old.',
    revokeHint: 'The key was published or stolen: switch it off immediately.',
    unfinished: 'The new key is not in force yet',
    unfinishedText:
      'It is stored in this browser, but issuing it broke off at the last step. Finish it or ' +
      'start again.',
    unfinishedOld: 'The old key still works.',
    finish: 'Finish',
    restart: 'Start again',
    notKept: 'This browser cannot keep the key',
    notKeptText:
      'Its storage is closed or full, as in a private window. Save the key yourself now; we will ' +
      'not show it again.',
    notKeptTick: 'I have saved the key in a safe place',
    notKeptDone: 'It is saved, put it in force',
    closed: 'This browser does not let us keep the key',
    closedText:
      'This happens in private windows, when site data is forbidden, or without a secure ' +
      'connection. Everything else works; take the key from your password manager.',
  },
  start: {
    title: 'Quick start',
    lead: 'Any program for the official API works: only the address and the key change.',
    base: 'Address',
    model: 'Model',
    withKey: 'Show with the key',
    withoutKey: 'Hide the key',
    copy: 'Copy with the key',
    copyPlain: 'Copy',
    noKey: 'Put your key in place of {{placeholder}}.',
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
      agents: 'Others',
    },
    note: {
      curl: 'Paste it into a terminal. The reply comes in a few seconds.',
      python: 'First: pip install anthropic',
      typescript: 'First: npm install @anthropic-ai/sdk',
      aiSdk: 'First: npm install ai @ai-sdk/anthropic. Here the address ends in /v1.',
      langchain: 'First: npm install @langchain/anthropic @langchain/core',
      claudeCode:
        'These variables are for a terminal. To keep them, put them into the env block of ' +
        '~/.claude/settings.json, and not into a project’s file: that ends up in the repository.',
      opencode: 'Into the file ~/.config/opencode/opencode.json. Here the address ends in /v1.',
      agents:
        'The official libraries and programs built on them read these variables, Qwen Code ' +
        'among them. If a program asks for the address in its settings, as Continue does, ' +
        'enter it there.',
    },
    windows: 'In Windows PowerShell write $env:NAME="value" instead of export.',
    waiting: 'Waiting for the first request',
    waitingText: 'Run any of the examples. This page notices by itself.',
    arrived: 'The first request has arrived',
    arrivedText: '{{model}}: {{credits}}, {{time}}. Everything works.',
    arrivedPlain: 'Everything works.',
    lastSeen: 'Last request {{time}}: {{model}}, {{credits}}.',
  },
}
