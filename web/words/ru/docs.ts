// The words around the documentation, in Russian; its texts are in docs/.

export const docs = {
  title: 'Документация',
  parts: 'Разделы документации',
  sections: {
    start: 'С чего начать',
    clients: 'Программы и библиотеки',
    reference: 'Справочник',
  },
  pages: {
    'quick-start': 'Быстрый старт',
    usage: 'Цена запросов',
    charging: 'Правила списания',
    curl: 'curl',
    typescript: 'TypeScript',
    python: 'Python',
    'ai-sdk': 'AI SDK',
    langchain: 'LangChain',
    'claude-code': 'Claude Code',
    opencode: 'OpenCode',
    'coding-agents': 'Другие агенты',
    'other-clients': 'Другие языки и библиотеки',
    api: 'Справочник API',
    errors: 'Ошибки',
    settings: 'Настройки сервера',
    versioning: 'Версии',
  },
  search: 'Поиск по документации',
  searchShort: 'Поиск',
  searchHint: 'Код ошибки, настройка, слово…',
  searchHelp: 'Стрелки выбирают результат, Enter открывает, Esc закрывает.',
  results: 'Результаты',
  found_one: 'Найден {{count}} раздел',
  found_few: 'Найдено {{count}} раздела',
  found_many: 'Найдено {{count}} разделов',
  found_other: 'Найдено {{count}} раздела',
  onPage: 'На этой странице',
  previous: 'Назад',
  next: 'Дальше',
  neighbours: 'Соседние страницы',
  linkTo: 'Ссылка на раздел «{{title}}»',
  values: 'Ваши значения в примерах',
  key: 'Ваш ключ',
  keyOfGuest:
    'В примерах — начало ключа. <a>Войдите</a> или <b>зарегистрируйтесь</b>, и здесь появится ' +
    'ваш ключ.',
  keyElsewhere:
    'В этом браузере нет вашего ключа, поэтому в примерах его начало. Создать или вставить ключ ' +
    'можно на <a>странице ключа</a>.',
}
