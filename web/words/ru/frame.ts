// The frame around every page, and words that any page may need, in Russian.

export const frame = {
  nav: {
    label: 'Разделы',
    home: 'Обзор',
    usage: 'Расход',
    packs: 'Пополнить',
    payments: 'Платежи',
    key: 'Ключ',
    settings: 'Настройки',
    skip: 'Перейти к содержанию',
    brandHome: '{{name}}: на главную',
    toHome: 'На главную',
  },
  balance: {
    label: 'Баланс',
    topUp: 'Пополнить',
  },
  credits: {
    exact: 'Точно: {{exact}}',
    // `count` chooses the form, `shown` is what is read: t(…, { count: 5, shown: '5 млн' }).
    unit_one: '{{shown}} кредит',
    unit_few: '{{shown}} кредита',
    unit_many: '{{shown}} кредитов',
    unit_other: '{{shown}} кредита',
  },
  menu: {
    account: 'Меню аккаунта',
    language: 'Язык',
    theme: 'Оформление',
    signOut: 'Выйти',
    security: 'Безопасность',
  },
  language: { ru: 'Русский', en: 'English' },
  theme: {
    now: 'Оформление: {{theme}}',
    system: 'Как в системе',
    light: 'Светлое',
    dark: 'Тёмное',
  },
  footer: {
    help: 'Помощь',
    documents: 'Документы',
    seller: 'Продавец',
    independent:
      '{{name}} — независимый сервис. Он не связан с разработчиками моделей, не представляет ' +
      'их и не действует от их имени.',
  },
  action: {
    again: 'Повторить',
    cancel: 'Отмена',
    close: 'Закрыть',
    continue: 'Продолжить',
    download: 'Скачать',
    print: 'Распечатать',
    save: 'Сохранить',
    done: 'Готово',
  },
  copy: {
    copy: 'Скопировать',
    done: 'Скопировано',
    failed: 'Браузер не дал скопировать. Выделите текст и скопируйте его сами.',
  },
  field: {
    optional: 'не обязательно',
    required: 'Заполните это поле.',
    email: 'Адрес выглядит так: name@example.ru.',
  },
  password: {
    show: 'Показать пароль',
    hide: 'Скрыть пароль',
    rule: 'Не короче {{min}} символов. Подойдёт фраза из нескольких слов.',
    more_one: 'Ещё {{count}} символ.',
    more_few: 'Ещё {{count}} символа.',
    more_many: 'Ещё {{count}} символов.',
    more_other: 'Ещё {{count}} символа.',
  },
  state: {
    loading: 'Загружаем…',
    offline: 'Нет связи. Показываем то, что было.',
  },
  notFound: {
    title: 'Такой страницы нет',
    text: 'Возможно, ссылка устарела или в адресе опечатка.',
  },
  away: {
    title: 'Сервис ненадолго недоступен',
    text: 'Страница откроется сама, как только он ответит. Обновлять её не нужно.',
  },
  broken: {
    title: 'Что-то сломалось у нас',
    text: 'Страница не открылась. Обновите её; если не поможет, напишите нам: {{email}}.',
    textPlain: 'Страница не открылась. Обновите её.',
    reload: 'Обновить',
    detail: 'Для поддержки',
  },
  document: {
    version: 'Редакция {{version}}',
  },
} as const
