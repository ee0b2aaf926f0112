// The dialog of a command, in Russian. ru-lines.ts has what the command itself says.

export const command = {
  plan: 'Показать, что произойдёт',
  planLabel: 'Что произойдёт',
  back: 'Назад',
  changed: 'Пока вы читали, что-то изменилось. Ничего не сделано; вот что произойдёт теперь.',
  reason: 'Причина',
  reasonHint: 'Останется в журнале действий.',
  credits: 'Кредиты',
  roubles: 'Сумма, ₽',
  allHint: 'Если не указать, вернётся всё, что не потрачено.',
  state: {
    done: 'Готово',
    nothing: 'Ничего не изменилось',
    asked: 'Нужно одобрение второго человека',
  },
  grant: {
    button: 'Начислить',
    title: 'Начислить промокредиты',
    submit: 'Начислить',
  },
  adjust: {
    button: 'Скорректировать',
    title: 'Скорректировать баланс',
    submit: 'Скорректировать',
  },
  refund: { button: 'Вернуть деньги', title: 'Возврат по заказу', submit: 'Вернуть деньги' },
  revoke: { button: 'Отключить ключ', title: 'Отключить ключ', submit: 'Отключить ключ' },
  suspend: {
    button: 'Приостановить',
    title: 'Приостановить аккаунт',
    submit: 'Приостановить',
  },
  unsuspend: {
    button: 'Возобновить',
    title: 'Возобновить аккаунт',
    submit: 'Возобновить',
  },
  close: { button: 'Закрыть аккаунт', title: 'Закрыть аккаунт', submit: 'Закрыть аккаунт' },
  erase: {
    button: 'Стереть данные',
    title: 'Стереть данные человека навсегда',
    submit: 'Стереть',
  },
  unlock: {
    button: 'Снять блокировку входа',
    title: 'Забыть неверные пароли и коды',
    submit: 'Снять',
  },
  recoverStop: {
    button: 'Остановить восстановление',
    title: 'Остановить восстановление доступа',
    submit: 'Остановить',
  },
  reviewCredit: {
    button: 'Зачислить',
    title: 'Зачислить пакет по платежу',
    submit: 'Зачислить',
  },
  reviewRefund: {
    button: 'Вернуть деньги',
    title: 'Вернуть платёж целиком',
    submit: 'Вернуть деньги',
  },
  reviewDismiss: {
    button: 'Закрыть',
    title: 'Закрыть без зачисления и возврата',
    submit: 'Закрыть',
  },
  disputeWon: { button: 'Выигран', title: 'Банк решил в нашу пользу', submit: 'Записать' },
  disputeLost: { button: 'Проигран', title: 'Банк отозвал деньги', submit: 'Записать' },
  drain: {
    button: 'Вывести',
    title: 'Не отправлять сюда новые запросы',
    submit: 'Вывести',
  },
  undrain: {
    button: 'Вернуть в работу',
    title: 'Снова отправлять сюда запросы',
    submit: 'Вернуть в работу',
  },
  approve: { button: 'Одобрить', title: 'Одобрить и выполнить', submit: 'Одобрить' },
  sealMonth: { button: 'Закрыть месяц', title: 'Закрыть месяц навсегда', submit: 'Закрыть' },
  catalogueSet: { button: 'Применить', title: 'Применить эти цены', submit: 'Применить' },
  rollBack: {
    button: 'Вернуться к ней',
    title: 'Снова применить эти цены',
    submit: 'Применить',
  },
  decline: { button: 'Отклонить', title: 'Отклонить или отозвать запрос', submit: 'Отклонить' },
} as const
