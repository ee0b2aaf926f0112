// What commands say, sentence by sentence: the English of the command, and the Russian of the page.
// Values in braces keep their names. A test runs every command of the console and finds each line
// of its plan and result here, or beside it in ru-price-lines.ts and ru-queue-lines.ts.
import { alarmSentences } from './ru-alarm-lines.ts'
import { endingSentences, endingStates } from './ru-ending-lines.ts'
import { priceSentences } from './ru-price-lines.ts'
import { queueSentences, queueStates } from './ru-queue-lines.ts'

export const sentences: readonly (readonly [english: string, russian: string])[] = [
  ...priceSentences,
  ...queueSentences,
  ...alarmSentences,
  ...endingSentences,
  // Whom it is about.
  ['{who} (book {book}, {available} available)', '{who} (счёт {book}, доступно {available})'],
  [
    '{who}, CLOSED (book {book}, {available} available)',
    '{who}, ЗАКРЫТ (счёт {book}, доступно {available})',
  ],
  [
    'a book without an owner (book {book}, {available} available)',
    'счёт {book} без владельца, доступно {available}',
  ],
  ['{pack} for {roubles} RUB, {email}', '{pack} за {roubles} ₽, {email}'],
  ['reason: {reason}', 'причина: {reason}'],
  ['note: {note}', 'примечание: {note}'],
  ['nothing was changed', 'ничего не изменилось'],

  // grant, adjust
  [
    'gets {credits} promo credits, which are never refunded',
    'получит промокредиты: {credits}; деньги за них не возвращаются',
  ],
  ['gets {credits} credits, against {contra}', 'получит кредиты: {credits}; {contra}'],
  ['loses {credits} credits, against {contra}', 'лишится кредитов: {credits}; {contra}'],
  ['it owes {credits}: that is paid first', 'долг {credits} погашается в первую очередь'],
  [
    'entry {entry} of book {book}: {credits}, available {available}',
    'запись {entry} счёта {book}: {credits}, доступно {available}',
  ],
  [
    'nothing was changed: entry {entry} of book {book} has this reference',
    'ничего не изменилось: с этой отметкой уже есть запись {entry} счёта {book}',
  ],

  // refund
  ['unspent: {credits} credits, {amount}', 'не потрачено: {credits} кредитов, {amount}'],
  [
    '{amount} goes back through {provider}; its credits are set aside now',
    'через {provider} вернётся {amount}; кредиты за эту сумму замораживаются сразу',
  ],
  ['rfd_{refund} of {amount} is {state}', 'возврат rfd_{refund} на {amount}: {state}'],
  [
    'rfd_{refund} has this reference: {state}',
    'с этой отметкой уже есть возврат rfd_{refund}: {state}',
  ],

  // revoke, suspend, unsuspend
  [
    'its key {key} (…{last4}) stops now, on every node',
    'ключ {key} (…{last4}) перестанет работать сразу и везде',
  ],
  [
    'its key that waits for confirmation goes; none is in force',
    'удалится ключ, который ждёт подтверждения; действующего ключа нет',
  ],
  [
    'the balance stays; the owner gets an e-mail and makes a new key in the cabinet',
    'баланс останется; владелец получит письмо и создаст новый ключ в кабинете',
  ],
  ['{key} (…{last4}) is revoked', 'ключ {key} (…{last4}) отключён'],
  ['the waiting key is gone', 'ключ, который ждал подтверждения, удалён'],
  ['{who} (book {book}, {available} available) has no key', 'у {who} (счёт {book}) нет ключа'],
  [
    'every request is refused with 403 from now on; nothing is charged',
    'с этого момента каждый запрос отклоняется с кодом 403; ничего не списывается',
  ],
  [
    '{credits} are held: requests under way end as usual',
    'в резерве {credits}: начатые запросы завершатся как обычно',
  ],
  [
    'it is {stop}, and will be again after this',
    'сейчас счёт {stop} и останется таким после возобновления',
  ],
  ['book {book} is suspended', 'счёт {book} приостановлен'],
  ['requests are taken again', 'запросы снова принимаются'],
  ['it is {stop} again: not open', 'счёт снова {stop}: запросы не принимаются'],
  ['book {book} is open', 'счёт {book} открыт'],
  ['book {book} is {stop}', 'счёт {book} {stop}'],
  ['it is {stop}, which is not yours to lift', 'счёт {stop}; снять это может не оператор'],
  [
    '{who} (book {book}, {available} available) is suspended already',
    '{who} (счёт {book}) уже приостановлен',
  ],
  [
    '{who} (book {book}, {available} available) is not suspended',
    '{who} (счёт {book}) не приостановлен',
  ],

  // reviews
  ['review {id}  {why}, {amount} paid', 'проверка {id}: {why}, оплачено {amount}'],
  ['review {id}  {why}, {amount} not paid yet', 'проверка {id}: {why}, {amount} ещё не оплачено'],
  ['expected {expected}, found {found}', 'ожидалось {expected}, получено {found}'],
  ['since {time} UTC, payment {payment}', 'с {time} UTC, платёж {payment}'],
  ['the pack is credited as it was sold', 'пакет зачислится так, как был продан'],
  [
    'all of the money goes back, and nothing is credited',
    'все деньги вернутся, ничего не зачислится',
  ],
  ['nothing is credited and nothing goes back', 'ничего не зачислится, деньги не вернутся'],
  ['review {id} is decided: {decision}', 'проверка {id} закончена: {decision}'],

  // disputes
  [
    'what is unspent of the pack is set aside until the bank has decided',
    'непотраченная часть пакета замораживается до решения банка',
  ],
  [
    'the whole account stops: requests are refused with 403',
    'счёт останавливается целиком: запросы отклоняются с кодом 403',
  ],
  [
    'the money stays ours; the credits are free again',
    'деньги остаются у нас; кредиты снова доступны',
  ],
  [
    'the bank took the money: the pack is taken back, and what was spent of it is owed',
    'банк отозвал деньги: пакет отзывается, а потраченное из него становится долгом',
  ],
  ['the owner gets an e-mail', 'владелец получит письмо'],
  ['dispute dsp_{dispute}: {state}', 'спор dsp_{dispute}: {state}'],

  // promo
  [
    'code {code}: {credits} credits, {times} accounts',
    'код {code}: {credits} кредитов, счетов: {times}',
  ],
  ['from now on to {until}', 'с этого момента до {until}'],
  ['from {from} UTC to {until}', 'с {from} UTC до {until}'],
  [
    'for accounts with {purchases} purchases without a refund',
    'для счетов, у которых покупок без возврата: {purchases}',
  ],
  ['it may cost {credits} credits in all', 'всего может стоить кредитов: {credits}'],
  ['code {code} is made', 'код {code} создан'],
  ['code {code}, used {used} of {times}', 'код {code}, использован {used} из {times}'],
  [
    'nobody can use it any more; what was given stays',
    'больше никто не сможет им воспользоваться; начисленное остаётся',
  ],
  ['code {code} is over', 'код {code} больше не действует'],

  // upstreams
  [
    '{name}, {credentials} credentials, {requests} requests under way',
    '{name}, ключей: {credentials}, запросов сейчас: {requests}',
  ],
  ['last changed by {by}, {at}', 'последнее изменение: {by}, {at}'],
  ['its weight becomes {weight}; now it is {before}', 'вес станет {weight}; сейчас {before}'],
  ['it gets new requests again', 'снова будет получать новые запросы'],
  [
    'but not before its upstream {upstream} is undrained',
    'но не раньше, чем вернут в работу поставщика {upstream}',
  ],
  [
    'it gets no new request; those under way go on',
    'новых запросов не получит; начатые продолжатся',
  ],
  ['in use remain: {names}', 'в работе останутся: {names}'],
  [
    'NO OTHER IS IN USE: every request will be refused with 529',
    'ДРУГИХ В РАБОТЕ НЕТ: каждый запрос будет отклонён с кодом 529',
  ],
  [
    '{name}: {change}; every process knows in two seconds',
    '{name}: {change}; процессы узнают за две секунды',
  ],
  ['{name} is so already', '{name}: уже так'],

  // approvals
  [
    'nothing was changed yet: another person can approve it until {time}',
    'пока ничего не изменилось: другой человек может одобрить до {time}',
  ],
  ['op approvals approve {id}', 'op approvals approve {id}'],
  ['opa_{id}  {approval}, until {time}', 'запрос opa_{id}: {approval}, действует до {time}'],
  [
    'opa_{id}  {approval} by {who}, until {time}',
    'запрос opa_{id}: {approval}, решение: {who}, до {time}',
  ],
  ['{who} ({role}) asked at {time}: op {command}', '{who} ({role}) просит с {time}: op {command}'],
  ['opa_{id} is approved: {printed}', 'запрос opa_{id} одобрен: {printed}'],
  ['it is taken back', 'запрос отзывается'],
  ['it is declined', 'запрос отклоняется'],
  [
    'it is closed and never run again; what it did stays',
    'запрос закрывается и больше не выполняется; что он сделал, остаётся',
  ],
  [
    'it began and never ended: op acts says what it did; then op approvals decline closes it',
    'команда началась и не закончилась: что она сделала, видно в действиях; потом закройте запрос',
  ],
  ['opa_{id} is withdrawn', 'запрос opa_{id} отозван'],
  ['opa_{id} is declined', 'запрос opa_{id} отклонён'],
  ['opa_{id} is closed', 'запрос opa_{id} закрыт'],

  // Why a command does nothing.
  ['there is no account of {text}', 'нет счёта: {text}'],
  [
    'there is no account of {text}; did you mean {meant}?',
    'нет счёта: {text}; возможно, вы имели в виду {meant}?',
  ],
  ['there is no book {book}', 'нет счёта {book}'],
  ['there is no order of {text}', 'нет заказа: {text}'],
  ['there is no code {code}', 'нет кода {code}'],
  [
    '{text} is no number of credits, such as 1 000 000',
    '{text} — не число кредитов, например 1 000 000',
  ],
  ['{text} is no number of credits', '{text} — не число кредитов'],
  [
    '--amount is roubles, such as 500.00, not {text}',
    'сумма указывается в рублях, например 500.00, а не {text}',
  ],
  [
    'a grant is more than nothing; op adjust takes credits away',
    'начислить можно только больше нуля; уменьшает баланс корректировка',
  ],
  ['an adjustment is more or less than nothing', 'корректировка не может быть нулевой'],
  ['this reference was used for another amount', 'с этой отметкой уже была другая сумма'],
  ['More than the account has available.', 'На счёте доступно меньше.'],
  ['More than the unspent part of the pack.', 'Это больше непотраченной части пакета.'],
  ['There is no such order.', 'Такого заказа нет.'],
  ['{order}: nothing to give back, {nothing}', '{order}: возвращать нечего: {nothing}'],
  ['no review {id} waits; op reviews lists those that do', 'проверка {id} уже не ждёт решения'],
  ['The review was decided already.', 'Решение по этой проверке уже принято.'],
  ['The payment is not paid.', 'Платёж не оплачен.'],
  ['A part of the payment was refunded.', 'Часть платежа уже возвращена.'],
  [
    'The payment is paid: credit or refund it.',
    'Платёж оплачен: зачислите его или верните деньги.',
  ],
  [
    'The payment is paid and will be credited automatically.',
    'Платёж оплачен и зачислится автоматически.',
  ],
  ['no key in force ends in {text}', 'нет действующего ключа, который кончается на {text}'],
  [
    'The role {role} may move {max} a day; {left} are left.',
    'Роль {role} может двигать в день {max}; осталось {left}.',
  ],
  [
    'The role {role} may not do this: {permission}.',
    'Роль {role} этого не позволяет: {permission}.',
  ],
  ['Another person decides about your request.', 'По вашему запросу решает другой человек.'],
  [
    'It was decided, taken back, or has expired.',
    'По запросу уже решили, его отозвали или срок истёк.',
  ],
  [
    'It was decided, has expired, or is not yours.',
    'По запросу уже решили, срок истёк, или он не ваш.',
  ],
  ['It has ended, or still runs.', 'Команда закончилась или ещё выполняется.'],
  [
    'The plan is not what was asked for; ask again:',
    'План уже не тот, о котором просили; запросите снова:',
  ],
  ['{who} is no active operator any more', '{who} больше не действующий оператор'],
]

const stops = {
  operator_blocked: 'приостановлен оператором',
  owner_suspended: 'приостановлен владельцем',
  velocity_stopped: 'остановлен по лимиту скорости расхода',
}

/** Words that stand for a value, by the name of the value. */
export const states: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  ...queueStates,
  ...endingStates,
  stop: stops,
  state: {
    created: 'создан',
    pending: 'выполняется',
    succeeded: 'выполнен',
    canceled: 'отменён',
    open: 'открыт',
    won: 'выигран',
    lost: 'проигран',
  },
  approval: {
    waiting: 'ждёт',
    running: 'выполняется',
    interrupted: 'прерван',
    done: 'выполнен',
    failed: 'не выполнен',
    declined: 'отклонён',
    withdrawn: 'отозван',
    expired: 'истёк',
  },
  contra: {
    loss: 'за наш счёт',
    promo: 'как промо',
    revenue: 'из выручки',
    clearing: 'из денег мимо заказа',
  },
  why: {
    amount: 'другая сумма',
    amount_text: 'сумма записана иначе',
    currency: 'другая валюта',
    test_flag: 'тестовый платёж',
    shop: 'другой магазин',
    provider: 'другая платёжная система',
    payment_id: 'второй платёж по заказу',
    order_reference: 'платёж с другим заказом',
    paid_in_review: 'оплачен во время проверки',
    top_up_unresolved: 'автопополнение без исхода',
    order_unknown: 'неизвестный заказ',
    refund_refused: 'банк отклонил возвраты',
  },
  decision: { credit: 'зачислено', refund: 'возврат', dismiss: 'без зачисления и возврата' },
  change: { drained: 'выведен', 'in use again': 'снова в работе' },
  nothing: {
    'it was never credited': 'заказ не зачислен',
    'it is disputed at the bank': 'по нему открыт спор в банке',
    'everything of it was spent': 'всё потрачено',
    'everything of it was refunded or spent': 'всё возвращено или потрачено',
  },
}
