// Queues, the rows of a figure, and the commands that belong to them, in Russian.

export const queues = {
  title: 'Очереди',
  lead: 'Всё, что ждёт решения человека.',
  empty: 'Ничего не ждёт.',
  approvals: 'Одобрения: {{number}}',
  approvalsHint: 'Одобряет не тот, кто просил. Если план изменился, команда не выполнится.',
  own: 'Ваш запрос',
  until: 'Действует до',
  takeBack: 'Отозвать',
  interrupted: 'Прервано',
  interruptedHint:
    'Команда началась и не закончилась. В действиях видно, что она сделала; закройте запрос.',
  close: 'Закрыть запрос',
  reviews: 'Платежи на проверке: {{number}}',
  paid: 'Оплачен',
  unpaid: 'Не оплачен',
  disputes: 'Открытые споры: {{number}}',
  disputesHint:
    'О споре банка сообщает провайдер письмом. Найдите платёж и откройте спор на странице ' +
    'аккаунта. Первым стоит тот, чей срок раньше.',
  answerBy: 'Ответить до',
  overdue: 'Срок прошёл',
  reserved: 'Заморожено кредитов:',
  evidence: 'Файл для банка',
  evidenceIn: { ru: 'по-русски', en: 'по-английски' },
  evidenceLabel: 'Скачать файл для банка {{language}}: {{dispute}}',
  stuckOrders: 'Зависшие заказы: {{number}}',
  stuckOrdersHint: 'Оплачены и не зачислены или не завершились через час после создания.',
  paidAt: 'Оплачен у провайдера',
  receipts: 'Чеки с ошибкой: {{number}}',
  receiptsHint:
    'Деньги получены, кредиты зачислены, чек не пробит. Пробейте его в кабинете провайдера и ' +
    'отметьте здесь.',
  creditedAt: 'Зачислен',
  quarantine: 'Карантин: {{number}}',
  quarantineHint: 'База данных отклонила эти списания. Они повторяются сами.',
  letters: 'Неотправленные письма: {{number}}',
  lettersHint:
    'Почтовый сервер отклонил их сегодня или просил подождать. Текст недоставленного письма ' +
    'удалён: повторить можно только то, что ждёт.',
  signals: 'Сигналы: {{number}}',
  signalsHint:
    'За 30 дней. Повод посмотреть, но не причина отказать: в семьях платят одной картой.',
  signal: {
    card: 'Одна карта',
    bank: 'Один банк и промокод',
    refunds: 'Много возвратов',
    tries: 'Подбор промокодов',
  },
} as const

export const figureRows = {
  lead: 'Строки, из которых складывается число. День {{day}} ({{zone}}).',
  leadNow: 'Балансы сейчас.',
  back: 'Сегодня',
  day: 'День',
  total: 'Всего',
  count: 'Строк',
  none: 'За этот день строк нет.',
  what: 'Что',
  state: 'Статус',
  account: 'Аккаунт',
  when: 'Когда',
  amount: 'Сколько',
  lot: {
    paid: 'Покупка',
    promo: 'Промокредиты',
    correction: 'Корректировка',
    transfer: 'Перенос',
    debt: 'Долг',
  },
} as const

export const queueCommands = {
  until: 'Ответить банку до',
  untilHint: 'День из письма провайдера. Если не указать — пять дней.',
  disputeOpen: {
    button: 'Открыть спор',
    title: 'Покупатель обратился в банк',
    submit: 'Открыть спор',
  },
  orderCheck: {
    button: 'Спросить провайдера',
    title: 'Что с платежом у провайдера',
    submit: 'Применить',
  },
  receiptDismiss: {
    button: 'Чек пробит',
    title: 'С чеком разобрались',
    submit: 'Отметить',
  },
  quarantineRetry: {
    button: 'Отправить сейчас',
    title: 'Отправить списание ещё раз',
    submit: 'Отправить',
  },
  quarantineWriteOff: { button: 'Списать', title: 'Отказаться от списания', submit: 'Списать' },
  letterRetry: {
    button: 'Отправить сейчас',
    title: 'Отправить письмо ещё раз',
    submit: 'Отправить',
  },
} as const
