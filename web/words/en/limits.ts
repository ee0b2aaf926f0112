// Limits, alerts about the balance and automatic top-ups, in English. A stored consent names the
// version of `topUp.consent`: to change that text, raise CONSENT_VERSION in src/payments/top-ups/.
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
      'Spent today: {{spent}}. Days are counted in UTC; the next one starts at {{clock}} your ' +
      'time. Leave empty for no limit.',
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
      daysHint: 'Based on the last week’s usage. Leave empty for no alert.',
      daysWrong: 'Enter a number of days from 1 to {{max}}.',
      never: 'No alert',
      always:
        'We always e-mail you when a request is rejected because you are out of credits or have ' +
        'reached your daily limit or spending rate limit.',
    },
  },
  topUp: {
    title: 'Automatic top-up',
    hint: 'We buy a pack for you when credits run low, and e-mail you about each charge.',
    on: 'On',
    off: 'Off',
    noCard:
      'You need a saved card first: buy any pack and tick “Save card for automatic top-up”. The ' +
      'payment provider stores the card details; we do not have them.',
    keepCard: 'Buy a pack and save the card',
    card: 'Card',
    pack: 'Pack',
    below: 'When balance is below',
    month: 'This month',
    monthValue: '{{spent}} of {{ceiling}}',
    threshold: 'Buy when credits fall below',
    thresholdHint: 'Must be less than the credits in the pack.',
    ceiling: 'Monthly limit, ₽',
    ceilingHint: 'Per calendar month, UTC. Automatic top-ups never exceed this amount.',
    consent:
      'I authorise charges of {{rubles}} to the card {{title}} for {{credits}} whenever my ' +
      'balance is below {{threshold}}, up to {{ceiling}} per month, without confirming each ' +
      'charge.',
    consentHint:
      'Your authorisation is valid until you withdraw it here. Automatic top-up turns itself off ' +
      'if the bank declines a charge, if the price or the number of credits in the pack changes, ' +
      'or if a payment is refunded or disputed.',
    agreeFirst: 'Authorise the charges to turn on automatic top-up.',
    tooHigh: 'The threshold must be lower than the number of credits in the pack.',
    tooLow: 'This is less than the price of one pack.',
    turnOn: 'Turn on automatic top-up',
    turnOff: 'Turn off',
    change: 'Edit',
    turnedOn: 'Automatic top-up is on.',
    turnedOff: 'Automatic top-up is off.',
    forget: 'Remove card',
    forgetTitle: 'Remove the card {{title}}?',
    forgetText: 'Automatic top-up turns off. To use it again, you will need to save a card.',
    forgotten: 'Card removed.',
    keep: 'Save card for automatic top-up',
    keepHint: 'Saving a card does not charge it again: automatic top-up is turned on separately.',
    mark: 'Automatic',
    stopped: {
      declined: 'The bank declined a charge',
      declinedText:
        'Automatic top-up was turned off on {{moment}}. Check the card and turn it on again if ' +
        'you need it.',
      pack_changed: 'The pack has changed',
      pack_changedText:
        'Automatic top-up was turned off on {{moment}}. We buy only at the price and for the ' +
        'number of credits that you authorised.',
      refunded: 'A purchase is being refunded',
      refundedText:
        'Automatic top-up was turned off on {{moment}}, so that your card is not charged again ' +
        'for the same credits. Turn it on if you still need it.',
      disputed: 'A payment is disputed',
      disputedText:
        'Automatic top-up was turned off on {{moment}}. There will be no more automatic charges. ' +
        'Turn it on if you still need it.',
      forgotten: 'The card was removed',
      forgottenText:
        'Automatic top-up was turned off on {{moment}}. We will not charge that card again.',
      consent_incomplete: 'New authorisation needed',
      consent_incompleteText:
        'Automatic top-up was turned off on {{moment}}. Your authorisation did not state the ' +
        'number of credits in the pack.',
    },
  },
}
