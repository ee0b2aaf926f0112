// Titles of the documentation pages, in Russian.

export const docs = {
  title: 'Документация',
  parts: 'Разделы документации',
  'quick-start': 'Быстрый старт',
  charging: 'Стоимость',
  api: 'Справочник API',
  errors: 'Ошибки',
  versioning: 'Версии',
  english: 'Этот раздел есть только на английском.',
}
