// Why a payment failed, by the provider's reason codes, with advice for the payer. The first twelve
// are those of declined test cards; the rest end a payment without a card.

/** What went wrong, and what the payer can do about it. */
export type Reason = { readonly title: string; readonly advice: string }

export const reasonsRu = {
  insufficient_funds: {
    title: 'На карте не хватает денег.',
    advice: 'Пополните карту или заплатите другой.',
  },
  '3d_secure_failed': {
    title: 'Банк не получил подтверждение (3-D Secure).',
    advice: 'Повторите оплату и введите код, который пришлёт банк.',
  },
  card_expired: {
    title: 'Срок действия карты истёк.',
    advice: 'Проверьте срок или заплатите другой картой.',
  },
  fraud_suspected: {
    title: 'Платёж показался банку подозрительным.',
    advice: 'Заплатите другой картой или выберите другой способ.',
  },
  general_decline: {
    title: 'Банк отклонил платёж и не назвал причину.',
    advice: 'Спросите банк или выберите другой способ.',
  },
  invalid_csc: {
    title: 'Неверный CVC.',
    advice: 'Проверьте три цифры на обороте карты и введите их ещё раз.',
  },
  invalid_card_number: {
    title: 'Неверный номер карты.',
    advice: 'Проверьте номер или заплатите другой картой.',
  },
  issuer_unavailable: {
    title: 'Банк, выпустивший карту, сейчас не отвечает.',
    advice: 'Попробуйте позже или выберите другой способ.',
  },
  payment_method_limit_exceeded: {
    title: 'Превышен лимит платежей по карте.',
    advice: 'Выберите другой способ или попробуйте завтра.',
  },
  payment_method_restricted: {
    title: 'Операции по этой карте запрещены.',
    advice: 'Спросите банк или выберите другой способ.',
  },
  call_issuer: {
    title: 'Банк, выпустивший карту, отклонил платёж.',
    advice: 'Позвоните в банк по номеру на карте или выберите другой способ.',
  },
  country_forbidden: {
    title: 'Картой, выпущенной в этой стране, заплатить нельзя.',
    advice: 'Заплатите другой картой или выберите другой способ.',
  },
  expired_on_confirmation: {
    title: 'На оплату давался один час.',
    advice: 'Вернитесь в магазин и оформите заказ заново.',
  },
  expired_on_capture: {
    title: 'Магазин не успел завершить платёж.',
    advice: 'Деньги вернутся на карту. Вернитесь в магазин и оформите заказ заново.',
  },
  canceled_by_merchant: {
    title: 'Платёж отменил магазин.',
    advice: 'За подробностями обратитесь в магазин.',
  },
  internal_timeout: {
    title: 'Платёж не завершился из-за сбоя.',
    advice: 'Вернитесь в магазин и оформите заказ заново.',
  },
  permission_revoked: {
    title: 'Согласие на автоплатежи отозвано.',
    advice: 'Вернитесь в магазин и заплатите ещё раз.',
  },
  identification_required: {
    title: 'Превышен лимит кошелька.',
    advice: 'Подтвердите личность в кошельке или выберите другой способ.',
  },
} satisfies Record<string, Reason>

export type Reasons = Readonly<Record<keyof typeof reasonsRu, Reason>>

export const reasonsEn: Reasons = {
  insufficient_funds: {
    title: 'There is not enough money on the card.',
    advice: 'Top up the card or pay with another one.',
  },
  '3d_secure_failed': {
    title: 'The bank was not given a confirmation (3-D Secure).',
    advice: 'Pay again and enter the code the bank sends you.',
  },
  card_expired: {
    title: 'The card has expired.',
    advice: 'Check the date or pay with another card.',
  },
  fraud_suspected: {
    title: 'The payment looked suspicious to the bank.',
    advice: 'Pay with another card or choose another method.',
  },
  general_decline: {
    title: 'The bank declined the payment and gave no reason.',
    advice: 'Ask your bank or choose another method.',
  },
  invalid_csc: {
    title: 'The CVC is wrong.',
    advice: 'Check the three digits on the back of the card and enter them again.',
  },
  invalid_card_number: {
    title: 'The card number is wrong.',
    advice: 'Check the number or pay with another card.',
  },
  issuer_unavailable: {
    title: 'The bank that issued the card is not answering.',
    advice: 'Try later or choose another method.',
  },
  payment_method_limit_exceeded: {
    title: 'The payment limit of the card is exceeded.',
    advice: 'Choose another method or try again tomorrow.',
  },
  payment_method_restricted: {
    title: 'Payments with this card are not allowed.',
    advice: 'Ask your bank or choose another method.',
  },
  call_issuer: {
    title: 'The bank that issued the card declined the payment.',
    advice: 'Call the number on the card or choose another method.',
  },
  country_forbidden: {
    title: 'Cards issued in this country are not accepted.',
    advice: 'Pay with another card or choose another method.',
  },
  expired_on_confirmation: {
    title: 'There was one hour to pay.',
    advice: 'Return to the shop and place the order again.',
  },
  expired_on_capture: {
    title: 'The shop did not complete the payment in time.',
    advice: 'Your money will be returned. Go back to the shop and place the order again.',
  },
  canceled_by_merchant: {
    title: 'The shop canceled the payment.',
    advice: 'Ask the shop for details.',
  },
  internal_timeout: {
    title: 'The payment was not completed because of a failure.',
    advice: 'Return to the shop and place the order again.',
  },
  permission_revoked: {
    title: 'Consent to automatic payments was withdrawn.',
    advice: 'Return to the shop and pay again.',
  },
  identification_required: {
    title: 'The limit of the wallet is exceeded.',
    advice: 'Confirm your identity in the wallet or choose another method.',
  },
}
