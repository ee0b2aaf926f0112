// Limits, letters about the balance and automatic top-ups, in English.
import type { limits as ru } from '../ru/limits.ts'
import type { Same } from '../ru/ru.ts'

export const limits: Same<typeof ru> = {
  limits: {
    saved: 'Saved.',
    save: 'Save',
    none: 'no limit',
    amountWrong: 'Enter a whole number, such as 5,000,000.',
    pause: {
      title: 'Requests with your key',
      state: {
        served: 'served',
        suspended: 'paused',
        stopped: 'stopped',
        blocked: 'stopped by us',
      },
      text: {
        served:
          'If strangers may have your key, or a program spends too much, pause your requests. ' +
          'Key and balance stay as they are.',
        suspended: 'New requests are refused until you end the pause. The key is the same.',
        stopped:
          'Spending passed your speed limit, and new requests are refused. If it was you, resume ' +
          'them. If not, reissue the key.',
        blocked: 'Write to us to sort it out: {{email}}.',
      },
      suspend: 'Pause requests',
      resume: 'Resume requests',
      reissue: 'Go to the key',
      paused: 'Requests are paused.',
      resumed: 'Requests are served again.',
    },
    spending: 'Spending limits',
    spendingHint: 'In force with the next request. To loosen a limit, confirm that it is you.',
    day: 'Credits a day, at most',
    dayHint:
      'Spent today: {{spent}}. Days are counted in UTC: for you the next one begins at ' +
      '{{clock}}. An empty field means no limit.',
    speed: 'Stop when more is spent than',
    speedHint: 'Credits. Requests stop, and you get a letter at once. Empty means never.',
    within: 'Within',
    minutes_one: '{{count}} minute',
    minutes_other: '{{count}} minutes',
    hours_one: '{{count}} hour',
    hours_other: '{{count}} hours',
    letters: {
      title: 'Letters about your balance',
      hint: 'They go to {{email}}, once each time it falls.',
      credits: 'When fewer credits are left than',
      creditsHint: 'An empty field: no letter.',
      days: 'When fewer days are left than',
      daysHint: 'At the pace of the last week. An empty field: no letter.',
      daysWrong: 'Enter a number of days from 1 to {{max}}.',
      never: 'no letter',
      always:
        'We always write when a request was refused: you are out of credits, the daily limit is ' +
        'reached, or the speed limit has stopped you.',
    },
  },
  topUp: {
    title: 'Automatic top-up',
    hint: 'We buy a pack when credits run low. You get a letter about each charge.',
    on: 'on',
    off: 'off',
    noCard:
      'A card is needed first: buy any pack and tick “Keep the card”. The payment provider keeps ' +
      'its details; we do not have them.',
    keepCard: 'Buy a pack and keep the card',
    card: 'Card',
    pack: 'Pack',
    below: 'When less than',
    month: 'This month',
    monthValue: '{{spent}} of {{ceiling}}',
    threshold: 'Buy when fewer credits are left than',
    thresholdHint: 'It must be less than the pack.',
    ceiling: 'At most in a month, ₽',
    ceilingHint: 'In a calendar month, UTC. Beyond this sum we charge nothing.',
    consent:
      'I allow charging {{rubles}} to the card {{title}} for {{credits}} whenever less than ' +
      '{{threshold}} is left, but no more than {{ceiling}} in a month, without confirming each ' +
      'charge.',
    consentHint:
      'It holds until you withdraw it here. If the bank declines, if the price or the credits of ' +
      'the pack change, or if a payment is paid back or disputed, automatic top-up switches ' +
      'itself off.',
    agreeFirst: 'Automatic top-up needs your permission.',
    tooHigh: 'The threshold must be below the credits of the pack.',
    tooLow: 'That is not enough for a single pack.',
    turnOn: 'Switch on automatic top-up',
    turnOff: 'Switch off',
    change: 'Change',
    turnedOn: 'Automatic top-up is on.',
    turnedOff: 'Automatic top-up is off.',
    forget: 'Forget the card',
    forgetTitle: 'Forget the card {{title}}?',
    forgetText: 'Automatic top-up switches off. To have it again, a card must be kept anew.',
    forgotten: 'The card is forgotten.',
    keep: 'Keep the card for automatic top-up',
    keepHint: 'This alone charges nothing: automatic top-up is switched on separately.',
    mark: 'automatic',
    stopped: {
      declined: 'The bank declined a charge',
      declinedText:
        'Automatic top-up is off: {{moment}}. See to the card, and switch it on again if you want.',
      pack_changed: 'The pack has changed',
      pack_changedText:
        'Automatic top-up is off: {{moment}}. We buy only for the price and the credits that you ' +
        'allowed.',
      refunded: 'A purchase is being paid back',
      refundedText:
        'Automatic top-up is off: {{moment}}. Your card is not charged for it again. Switch it ' +
        'on if you still want it.',
      disputed: 'A payment is disputed at the bank',
      disputedText:
        'Automatic top-up is off: {{moment}}. We charge nothing more by ourselves. Switch it on ' +
        'if you still want it.',
      forgotten: 'The card was forgotten',
      forgottenText: 'Automatic top-up is off: {{moment}}. We do not charge that card again.',
      consent_incomplete: 'Your permission is needed again',
      consent_incompleteText:
        'Automatic top-up is off: {{moment}}. Your permission did not name the credits of the ' +
        'pack.',
    },
  },
}
