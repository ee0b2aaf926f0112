// The frame around every page, and words that any page may need, in Russian.

export const frame = {
  nav: {
    label: 'Главное меню',
    home: 'Обзор',
    usage: 'Расход',
    packs: 'Пополнить',
    payments: 'Платежи',
    key: 'Ключ',
    settings: 'Настройки',
    skip: 'Перейти к содержимому',
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
    about: 'около {{rubles}}',
    withAbout: '{{credits}} ({{about}})',
    atLast: 'по цене последней покупки, {{rubles}} за миллион кредитов',
    atPack: 'по цене пакета «{{pack}}», {{rubles}} за миллион кредитов',
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
      '{{name}} — независимый сервис. Он не связан с разработчиками моделей, не представляет их ' +
      'и не действует от их имени.',
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
    failed: 'Браузер не разрешил копирование. Выделите текст и скопируйте его вручную.',
  },
  field: {
    optional: 'необязательно',
    required: 'Заполните это поле.',
    email: 'Введите адрес вида name@example.ru.',
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
    loading: 'Загрузка…',
    offline: 'Нет соединения. Данные на странице могли устареть.',
  },
  notFound: {
    title: 'Страница не найдена',
    text: 'Возможно, ссылка устарела или в адресе опечатка.',
  },
  away: {
    offline: 'Нет соединения',
    title: 'Сервис временно недоступен',
    text: 'Страница откроется автоматически, как только сервис ответит. Обновлять её не нужно.',
  },
  broken: {
    title: 'Ошибка на нашей стороне',
    text: 'Не удалось открыть страницу. Обновите её; если не поможет, напишите нам: {{email}}.',
    textPlain: 'Не удалось открыть страницу. Обновите её.',
    reload: 'Обновить',
    detail: 'Данные для поддержки',
  },
  document: {
    version: 'Редакция {{version}}',
  },
} as const
