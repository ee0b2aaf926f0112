// What the alarms say about themselves, as in ru-lines.ts. Names of upstreams, models and parts of
// the status page stay as they are.

export const alarmSentences: readonly (readonly [english: string, russian: string])[] = [
  ['charges: {count}, the oldest {ago}', 'списаний: {count}, самое старое {ago}'],
  ['spools out of reach: {count}', 'недоступных спулов: {count}'],
  ['the last WAL: {ago}', 'последний WAL: {ago}'],
  ['the last one: {ago}', 'последняя копия: {ago}'],
  ['for {days} more days', 'хватит на дней: {days}'],
  ['the oldest day is {days} days late', 'самый старый день опаздывает на дней: {days}'],
  ['the job usage last ran {ago}', 'задание usage выполнялось {ago}'],
  ['within a day: {count}', 'за сутки: {count}'],
  ['the oldest: {ago}', 'самое старое: {ago}'],
  ['today: {count}', 'сегодня: {count}'],
  ['by {percent} % of a day’s cost', 'на {percent} % стоимости за день'],
  ['the last time: {ago}', 'последний раз: {ago}'],
  ['accounts: {count}, for more than {days} days', 'аккаунтов: {count}, дольше чем дней: {days}'],
  ['accounts: {count}, for two days or more', 'аккаунтов: {count}, дольше двух дней'],
  ['the last probe: {ago}', 'последняя проверка: {ago}'],
  ['no process reported within half a minute', 'за полминуты не отозвался ни один процесс'],
  ['credentials in use: {count}', 'ключей в работе: {count}'],
  ['{model}: every credential, for {seconds} s', '{model}: все ключи, ещё {seconds} с'],

  // payments
  [
    '99 of 100 credits of the last hour took up to {seconds} s',
    '99 из 100 зачислений за час заняли до {seconds} с',
  ],
  [
    '{some} of {all} credits of the last day came by a notification',
    'по уведомлению за сутки: {some} из {all} зачислений',
  ],
  [
    'failed: {count}, the last complete one: {ago}',
    'не удалось: {count}, последняя полная сверка: {ago}',
  ],
  ['wait for a person: {count}', 'ждут человека: {count}'],
  ['orders without an answer: {count}', 'заказов без ответа: {count}'],
  ['notifications not confirmed: {count}', 'неподтверждённых уведомлений: {count}'],
  ['refunds open for 4 days: {count}', 'возвратов дольше четырёх дней: {count}'],
  ['in the last day: {count}', 'за сутки: {count}'],
  ['not registered: {count}', 'не зарегистрировано: {count}'],
  [
    'a payment is not credited {seconds} s after its capture',
    'платёж не зачислен через {seconds} с после списания',
  ],
  ['in the last hour: {count}', 'за час: {count}'],
  ['findings: {count}, see op audit', 'расхождений: {count}, список: op audit'],
  [
    'postings compared: {ago}, the provider’s days until: {until}',
    'проводки сверены: {ago}, дни провайдера — по: {until}',
  ],
]
