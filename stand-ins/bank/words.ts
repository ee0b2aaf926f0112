// Every sentence of the bank's pages, in Russian and English. Both languages have the same type, so
// a sentence that is missing in one does not compile. Numbers and sums are formatted here as well,
// because their format depends on the language.
import { type Reason, type Reasons, reasonsEn, reasonsRu } from './pages-reasons.ts'

export const languages = ['ru', 'en'] as const
export type Language = (typeof languages)[number]

const ru = {
  languageName: 'Русский',
  languageSwitch: 'Язык',
  bankName: 'Тестовый банк',
  notice: 'Это тестовый банк: деньги не списываются.',
  skip: 'К содержанию',
  order: 'Заказ',
  shop: 'Магазин',
  sum: 'Сумма',
  description: 'Описание',
  timeLeft: 'Время на оплату',
  payTitle: 'Оплата заказа',
  methods: 'Способ оплаты',
  card: 'Карта',
  sbp: 'СБП',
  cardNumber: 'Номер карты',
  expiry: 'Срок действия',
  expiryHint: 'Как на карте: ММ/ГГ',
  cvc: 'CVC',
  cvcHint: 'Три цифры на обороте',
  pay: (sum: string) => `Оплатить ${sum}`,
  close: 'Закрыть без оплаты',
  closeHint: 'Платёж останется открытым, к нему можно вернуться, пока не истекло время.',
  errorPrefix: 'Ошибка',
  checkFields: 'Проверьте данные карты',
  numberMissing: 'Введите номер карты',
  numberWrong: 'В номере карты должно быть от 13 до 19 цифр',
  expiryMissing: 'Введите срок действия: месяц и год',
  expiryWrong: 'Введите месяц и год в виде ММ/ГГ, например 12/30',
  expiryPast: 'Срок действия карты истёк. Возьмите другую карту',
  cvcMissing: 'Введите CVC: три цифры на обороте карты',
  cvcWrong: 'CVC состоит из трёх цифр',
  testCards: 'Тестовые карты',
  testCardsHint: 'Срок действия – любой будущий, CVC и код банка – любые.',
  testCardsOther: 'Любой другой номер отклоняется как неверный.',
  outcome: 'Что произойдёт',
  outcomePaid: 'Оплата',
  outcomeCode: 'Оплата с кодом банка',
  secureTitle: 'Подтвердите оплату',
  secureIntro: (last4: string) => `Банк, выпустивший карту •••• ${last4}, просит код из сообщения.`,
  secureCode: 'Код из сообщения',
  secureHint: 'В тестовом банке подходит любой код.',
  secureMissing: 'Введите код из сообщения',
  confirm: 'Подтвердить',
  refuse: 'Отказаться',
  declinedTitle: 'Платёж отклонён',
  declinedSafe: 'Деньги не списаны.',
  retry: 'Попробовать ещё раз',
  giveUp: 'Вернуться в магазин',
  giveUpHint: 'Возврат в магазин завершит этот платёж. Попробовать ещё раз можно сейчас.',
  sbpTitle: 'Оплата через СБП',
  sbpScan: 'Отсканируйте код камерой телефона или в приложении банка и подтвердите перевод.',
  sbpPhone: 'Откройте приложение банка и подтвердите перевод. Затем вернитесь на эту страницу.',
  sbpCode: 'QR-код для оплаты через СБП',
  sbpLink: 'Открыть ссылку из кода',
  sbpOpen: 'Открыть приложение банка',
  newTab: 'откроется в новой вкладке',
  sbpWaiting: 'Ждём подтверждения от банка. Страница обновится сама.',
  sbpCheck: 'Проверить оплату',
  sbpRefusedTitle: 'Перевод не подтверждён',
  sbpRefused: {
    title: 'В приложении банка нажали «Отказаться».',
    advice: 'Повторите перевод или выберите другой способ.',
  },
  appName: 'Приложение тестового банка',
  appTitle: 'Перевод по СБП',
  appConfirm: 'Подтвердить перевод',
  appDoneTitle: 'Перевод выполнен',
  appDone: 'Можно вернуться в магазин. Страница оплаты уже знает о переводе.',
  appRefusedTitle: 'Вы отказались от перевода',
  appRefused: 'Деньги не списаны. На странице оплаты можно попробовать ещё раз.',
  appAgain: 'Вернуться к переводу',
  paidTitle: 'Платёж прошёл',
  paid: 'Всё готово. Можно вернуться в магазин.',
  expiredTitle: 'Время на оплату истекло',
  canceledTitle: 'Платёж отменён',
  notOfferedTitle: 'Этим способом заплатить нельзя',
  notOffered: 'Вернитесь в магазин и выберите другой способ.',
  unknownTitle: 'Платёж не найден',
  unknown: 'Проверьте ссылку или вернитесь в магазин и начните оплату заново.',
  returning: 'Возвращаемся в магазин…',
  wrongTitle: 'Так эту страницу открыть нельзя',
  wrong: 'Вернитесь на страницу оплаты и повторите.',
  toShop: 'Вернуться в магазин',
  reasons: reasonsRu as Reasons,
  reasonUnknown: {
    title: 'Платёж не прошёл.',
    advice: 'Попробуйте ещё раз или выберите другой способ.',
  } as Reason,
}

export type Words = typeof ru

const en: Words = {
  languageName: 'English',
  languageSwitch: 'Language',
  bankName: 'Test bank',
  notice: 'This is a test bank: no money moves.',
  skip: 'Skip to content',
  order: 'Order',
  shop: 'Shop',
  sum: 'Amount',
  description: 'Description',
  timeLeft: 'Time left to pay',
  payTitle: 'Pay for the order',
  methods: 'Payment method',
  card: 'Card',
  sbp: 'SBP',
  cardNumber: 'Card number',
  expiry: 'Expiry date',
  expiryHint: 'As on the card: MM/YY',
  cvc: 'CVC',
  cvcHint: 'Three digits on the back',
  pay: (sum) => `Pay ${sum}`,
  close: 'Close without paying',
  closeHint: 'The payment stays open; you can come back to it until the time runs out.',
  errorPrefix: 'Error',
  checkFields: 'Check the card details',
  numberMissing: 'Enter the card number',
  numberWrong: 'A card number has 13 to 19 digits',
  expiryMissing: 'Enter the expiry date: month and year',
  expiryWrong: 'Enter month and year as MM/YY, for example 12/30',
  expiryPast: 'This card has expired. Use another card',
  cvcMissing: 'Enter the CVC: three digits on the back',
  cvcWrong: 'The CVC has three digits',
  testCards: 'Test cards',
  testCardsHint: 'Any future expiry date; any CVC and bank code.',
  testCardsOther: 'Any other number is declined as invalid.',
  outcome: 'What happens',
  outcomePaid: 'Paid',
  outcomeCode: 'Paid with a bank code',
  secureTitle: 'Confirm the payment',
  secureIntro: (last4) => `The bank that issued card •••• ${last4} asks for the code it sent you.`,
  secureCode: 'Code from the message',
  secureHint: 'The test bank accepts any code.',
  secureMissing: 'Enter the code from the message',
  confirm: 'Confirm',
  refuse: 'Refuse',
  declinedTitle: 'Payment declined',
  declinedSafe: 'You have not been charged.',
  retry: 'Try again',
  giveUp: 'Return to the shop',
  giveUpHint: 'Returning to the shop ends this payment. You can try again now.',
  sbpTitle: 'Pay by SBP',
  sbpScan: 'Scan the code with your phone camera or bank app and confirm the transfer.',
  sbpPhone: 'Open your bank app and confirm the transfer. Then come back to this page.',
  sbpCode: 'QR code to pay by SBP',
  sbpLink: 'Open the link from the code',
  sbpOpen: 'Open the bank app',
  newTab: 'opens in a new tab',
  sbpWaiting: 'Waiting for the bank to confirm. This page updates by itself.',
  sbpCheck: 'Check the payment',
  sbpRefusedTitle: 'Transfer not confirmed',
  sbpRefused: {
    title: 'The transfer was refused in the bank app.',
    advice: 'Repeat the transfer or choose another method.',
  },
  appName: 'Test bank app',
  appTitle: 'SBP transfer',
  appConfirm: 'Confirm the transfer',
  appDoneTitle: 'Transfer complete',
  appDone: 'You can return to the shop. The payment page already knows.',
  appRefusedTitle: 'You refused the transfer',
  appRefused: 'You have not been charged. You can try again on the payment page.',
  appAgain: 'Back to the transfer',
  paidTitle: 'Payment complete',
  paid: 'All done. You can return to the shop.',
  expiredTitle: 'Time to pay has run out',
  canceledTitle: 'Payment canceled',
  notOfferedTitle: 'This method is not available',
  notOffered: 'Return to the shop and choose another method.',
  unknownTitle: 'Payment not found',
  unknown: 'Check the link, or return to the shop and start again.',
  returning: 'Returning to the shop…',
  wrongTitle: 'This page cannot be opened like that',
  wrong: 'Go back to the payment page and repeat.',
  toShop: 'Return to the shop',
  reasons: reasonsEn,
  reasonUnknown: {
    title: 'The payment did not go through.',
    advice: 'Try again or choose another method.',
  },
}

const all: Readonly<Record<Language, Words>> = { ru, en }

export function wordsOf(language: Language): Words {
  return all[language]
}

/** The list of reasons is open on the provider's side: an unknown one gets a general sentence. */
export function reasonText(words: Words, reason: string | undefined): Reason {
  return (
    new Map<string, Reason>(Object.entries(words.reasons)).get(reason ?? '') ?? words.reasonUnknown
  )
}

const gap = '\u00a0'

/** `1 300,00 ₽` or `1,300.00 ₽`, from the provider's decimal text and never through a float. */
export function sumText(language: Language, amount: { value: string; currency: string }): string {
  const [whole = '0', fraction = '00'] = amount.value.split('.')
  const [group, point] = language === 'ru' ? [gap, ','] : [',', '.']
  const grouped = whole.replaceAll(/\B(?=(?:\d{3})+$)/g, group)
  const sign = amount.currency === 'RUB' ? '₽' : amount.currency
  return `${grouped}${point}${fraction}${gap}${sign}`
}

/** `59:08`. Rounds up to a whole second, so that the countdown never ends too early. */
export function clockText(remainingMs: number): string {
  const seconds = Math.max(0, Math.ceil(remainingMs / 1000))
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`
}
