// Automatic top-ups, in English. A mandate names the version of `topUp.consent`: to change that
// text, raise CONSENT_VERSION in src/payments/mandates/mandates.ts.
import type { Same } from '../ru/ru.ts'
import type { topUp as ru } from '../ru/top-up.ts'

export const topUp: Same<typeof ru> = {
  topUp: {
    title: 'Automatic top-up',
    hint: 'We buy a pack for you when credits run low, and e-mail you about each charge.',
    mandate: 'Authorisation',
    on: 'On',
    off: 'Off',
    noCard:
      'You need a saved card first: buy any pack and tick “Save card for automatic top-up”. The ' +
      'payment provider stores the card details; we do not have them.',
    keepCard: 'Buy a pack and save the card',
    card: 'Card',
    pack: 'Pack',
    below: 'When balance is below',
    today: 'This day, since {{clock}}',
    month: 'This month',
    spentOf: '{{spent}} of {{ceiling}}',
    given: 'Authorised on',
    number: 'Authorisation number',
    terms: 'Terms',
    notOffered: 'Automatic top-up is not available at the moment.',
    threshold: 'Buy when credits fall below',
    thresholdHint: 'Must be less than the credits in the pack.',
    dayCeiling: 'Daily limit, ₽',
    dayCeilingHint:
      'A day begins at {{clock}} your time, midnight UTC. Its automatic charges never exceed this.',
    monthCeiling: 'Monthly limit, ₽',
    monthCeilingHint: 'Per calendar month, UTC. Automatic charges of a month never exceed this.',
    consent:
      'I authorise charges of {{rubles}} to the card {{title}} for {{credits}} whenever my ' +
      'balance is below {{threshold}}, up to {{day}} per day and {{month}} per month, without ' +
      'confirming each charge.',
    consentHint:
      'Your authorisation is valid until you withdraw it here. Automatic top-up turns itself off ' +
      'if the bank declines a charge, if the price or the number of credits in the pack changes, ' +
      'if you save another card, or if a payment is refunded or disputed.',
    agreeFirst: 'Authorise the charges to turn on automatic top-up.',
    tooHigh: 'The threshold must be lower than the number of credits in the pack.',
    tooLow: 'This is less than the price of one pack.',
    monthBelowDay: 'The monthly limit cannot be lower than the daily limit.',
    turnOn: 'Turn on automatic top-up',
    turnOff: 'Turn off',
    change: 'Edit',
    replace: 'Give a new authorisation',
    turnedOn: 'Automatic top-up is on.',
    turnedOff: 'Automatic top-up is off.',
    forget: 'Remove card',
    forgetTitle: 'Remove the card {{title}}?',
    forgetText: 'Automatic top-up turns off. To use it again, you will need to save a card.',
    forgotten: 'Card removed.',
    keep: 'Save card for automatic top-up',
    keepHint: 'Saving a card does not charge it again: automatic top-up is turned on separately.',
    keepReplaces:
      'Replaces the saved card {{title}}. Automatic top-up turns off: the new card needs a new ' +
      'authorisation.',
    open: 'Open automatic top-up',
    notice: {
      title: 'E-mail before a charge',
      label_one: 'E-mail me {{count}} hour before each charge',
      label_other: 'E-mail me {{count}} hours before each charge',
      hint:
        'In that time you can cancel the charge: turn off automatic top-up, or top up yourself. ' +
        'Choose a threshold with a margin: your credits may run out before the charge. We always ' +
        'e-mail you after each charge.',
      on: 'We will e-mail you before each charge.',
      off: 'We will no longer e-mail you before a charge.',
    },
    charges: {
      title: 'Charges',
      table: 'Automatic charges, newest first',
      none: 'There have been no automatic charges yet.',
      credits: 'Credits',
      date: 'Date',
      state: 'Status',
      amount: 'Amount',
      mandate: 'Authorisation',
      mandateValue: 'No. {{id}}',
      order: 'Order',
      open: 'Open',
      openOf: 'Open the order of {{date}}',
      planned: 'Planned',
      plannedText: 'To be charged on {{moment}}',
    },
    past: {
      title: 'Past authorisations',
      table: 'Past authorisations, newest first',
      ended: 'Ended',
      limits: '{{day}} per day, {{month}} per month',
      below: 'when below {{threshold}}',
      why: 'Why',
      reason: {
        owner: 'You turned automatic top-up off',
        declined: 'The bank declined a charge',
        pack_changed: 'The pack changed',
        refunded: 'A purchase was refunded',
        disputed: 'A payment was disputed',
        forgotten: 'The card was removed',
        card_replaced: 'Another card was saved',
        closed: 'The account was closed',
        replaced: 'You gave a new authorisation',
        consent_incomplete: 'It did not state the number of credits',
      },
    },
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
      card_replaced: 'Another card was saved',
      card_replacedText:
        'Automatic top-up was turned off on {{moment}}. To charge the new card, we need a new ' +
        'authorisation.',
      consent_incomplete: 'New authorisation needed',
      consent_incompleteText:
        'Automatic top-up was turned off on {{moment}}. Your authorisation did not state the ' +
        'number of credits in the pack.',
    },
  },
}
