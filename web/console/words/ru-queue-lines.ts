// What the commands of the queues say, as in ru-lines.ts.

export const queueSentences: readonly (readonly [english: string, russian: string])[] = [
  // disputes
  ['the payer disputes {roubles} RUB of it', 'плательщик оспаривает {roubles} ₽ из них'],
  [
    'the bank is answered within five days: --until says otherwise',
    'ответить банку нужно за пять дней: другой срок не указан',
  ],
  ['the bank accepts evidence until {time} UTC', 'банк принимает документы до {time} UTC'],
  ['The deadline has passed.', 'Этот срок уже прошёл.'],
  ['This order cannot be disputed now.', 'По этому заказу сейчас нельзя открыть спор.'],
  ['More than is left of the price.', 'Это больше того, что осталось от цены.'],

  // orders check
  ['here: {orderState}', 'у нас: {orderState}'],
  ['here: {orderState}, not credited', 'у нас: {orderState}, не зачислен'],
  [
    'the provider: {paid} at {time} UTC, {sum}, payment {payment}',
    'у провайдера: {paid} {time} UTC, {sum}, платёж {payment}',
  ],
  [
    'the provider: {paid}, {sum}, payment {payment}',
    'у провайдера: {paid}, {sum}, платёж {payment}',
  ],
  ['the provider has no payment of this order', 'у провайдера нет платежа по этому заказу'],
  ['the provider did not say: {answer}', 'провайдер не ответил: {answer}'],
  [
    'it is credited already; unknown refunds are recorded',
    'заказ уже зачислен; запишутся возвраты, о которых мы не знаем',
  ],
  ['nothing changes now', 'сейчас ничего не изменится'],
  [
    'it ends as canceled; nothing was paid',
    'заказ закончится как отменённый; ничего не было оплачено',
  ],
  ['nothing changes until it is paid', 'пока заказ не оплачен, ничего не изменится'],
  [
    'it is credited if amount, currency and shop agree; else it goes to review',
    'заказ зачислится, если совпадут сумма, валюта и магазин; иначе попадёт на проверку',
  ],
  ['pay_{order} is {orderState}', 'заказ pay_{order}: {orderState}'],
  ['pay_{order} is {orderState}, as before', 'заказ pay_{order}: {orderState}, как и был'],

  // receipts dismiss
  [
    'its receipt failed; it leaves the list because a person has dealt with it',
    'чек не пробит; с ним разобрались, и он уйдёт из списка',
  ],
  ['the receipt of {order} is dealt with', 'с чеком заказа {order} разобрались'],
  ['no receipt of {order} failed', 'с чеком заказа {order} всё в порядке'],
  ['No failed receipt of this order waits.', 'Чек этого заказа не ждёт решения.'],
  // receipts retry
  [
    'a worker looks for its failed receipts at the provider',
    'непробитые чеки заказа будут найдены у провайдера',
  ],
  ['what is not there is made again', 'каких там нет, будут пробиты заново'],
  [
    'the receipts of {order} are made again within seconds',
    'чеки заказа {order} будут пробиты заново через несколько секунд',
  ],
  ['No failed receipt can be made again.', 'Заново пробивать нечего.'],

  // quarantine
  [
    'quarantined charge {request}  book {book}, {credits} credits',
    'списание в карантине {request}: счёт {book}, кредитов {credits}',
  ],
  ['since {time} UTC: {why}', 'с {time} UTC: {why}'],
  ['since {time} UTC, sent {times} times since: {why}', 'с {time} UTC, повторов {times}: {why}'],
  [
    '{count} sent to the ledger now; each is charged once at most',
    'отправится сейчас: {count}; каждое спишется не больше одного раза',
  ],
  ['{count} charged, {refused} refused again', 'списано: {count}, снова отклонено: {refused}'],
  [
    '{request}: charged {credits} credits, written off {off}',
    '{request}: списано {credits}, прощено {off}',
  ],
  [
    'the charge is written off: it is not sent again, and the customer keeps the credits',
    'от списания отказываемся: оно не повторится, кредиты останутся у клиента',
  ],
  ['{request}: written off {settle}', '{request}: от списания отказались {settle}'],
  ['req_{request}: {outcome}', 'запрос req_{request}: {outcome}'],
  ['the quarantine is empty', 'карантин пуст'],
  ['no charge of {request} is in quarantine', 'в карантине нет списания {request}'],

  // accounts create, registrations
  ['an invitation to {email}, in Russian', 'приглашение на {email}, по-русски'],
  ['an invitation to {email}, in English', 'приглашение на {email}, по-английски'],
  [
    'a registration of this address waits; its link works too',
    'этот адрес уже ждёт подтверждения; та ссылка тоже действует',
  ],
  [
    'the person sets the password and accepts the documents by the link; it works for a week',
    'пароль и согласия человек задаёт сам по ссылке; она действует неделю',
  ],
  [
    'there is no account, no key and no balance before that',
    'до этого нет ни аккаунта, ни ключа, ни баланса',
  ],
  ['{email} is invited: {id}', '{email} приглашён: {id}'],
  ['{email} has an account already: op find {same}', 'у {email} уже есть аккаунт'],
  [
    'invitation by {by}, {id} of {email}, {at} UTC, not confirmed',
    'приглашение {id} для {email} от {by}, {at} UTC, не подтверждено',
  ],
  [
    'registration {id} of {email}, {at} UTC, not confirmed',
    'регистрация {id} адреса {email}, {at} UTC, не подтверждена',
  ],
  ['the e-mail is sent again, in Russian', 'письмо уйдёт ещё раз, по-русски'],
  ['the e-mail is sent again, in English', 'письмо уйдёт ещё раз, по-английски'],
  ['its link is new; the link before stops', 'ссылка будет новой, прежняя перестанет действовать'],
  ['{email} gets a new link', 'на {email} уйдёт новая ссылка'],
  [
    'it is deleted and its link stops; the person may register again',
    'она удаляется, ссылка перестаёт действовать; человек может зарегистрироваться снова',
  ],
  ['the registration of {email} is gone', 'регистрация {email} удалена'],

  // mail retry
  ['e-mail {kind} to {recipient}', 'письмо {kind} для {recipient}'],
  ['sent {times} times: {error}', 'попыток: {times}: {error}'],
  ['it is sent again now', 'отправится сейчас'],
  ['e-mail {id} is sent again', 'письмо {id} отправляется'],
  ['no e-mail {id} waits; op mail outbox has them', 'письмо {id} не ждёт отправки'],
]

export const queueStates: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  orderState: {
    created: 'создан',
    pending: 'ждёт оплаты',
    failed: 'не создан',
    canceled: 'отменён',
    expired: 'просрочен',
    review: 'на проверке',
    credited: 'зачислен',
    refund_pending: 'возвращается',
    partially_refunded: 'возвращён частично',
    refunded: 'возвращён',
    disputed: 'спор открыт',
    dispute_won: 'спор выигран',
    dispute_lost: 'спор проигран',
  },
  paid: {
    pending: 'не оплачен',
    authorized: 'деньги заморожены',
    succeeded: 'оплачен',
    canceled: 'отменён',
  },
}
