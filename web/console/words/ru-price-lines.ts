// What commands say about prices and months, as in ru-lines.ts.

/** Of a model; each is followed by the value before and after. */
const facts = {
  coefficient: 'коэффициент',
  'weight of input': 'вес ввода',
  'weight of cache reads': 'вес чтения из кеша',
  'weight of 5-minute cache writes': 'вес записи в кеш на 5 минут',
  'weight of 1-hour cache writes': 'вес записи в кеш на час',
  'context window': 'окно контекста',
  'output ceiling': 'наибольший ответ',
}

/** What a million of them costs. */
const tokens = {
  'input tokens': 'токенов ввода',
  'output tokens': 'токенов ответа',
  'tokens read from the cache': 'токенов чтения из кеша',
  'tokens written to the cache for 5 minutes': 'токенов записи в кеш на 5 минут',
  'tokens written to the cache for an hour': 'токенов записи в кеш на час',
}

export const priceSentences: readonly (readonly [english: string, russian: string])[] = [
  // catalogue
  ['fields of version {version}, changed by hand', 'поля версии {version}, изменённые вручную'],
  ['prices and packs of version {version}', 'цены и пакеты версии {version}'],
  ...Object.entries(facts).map(
    ([english, russian]) =>
      [
        `model {model}: ${english} {was} → {now}`,
        `модель {model}: ${russian} {was} → {now}`,
      ] as const,
  ),
  ['model {model} is added: {facts}', 'модель {model} добавляется: {facts}'],
  ['model {model} is removed', 'модель {model} удаляется'],
  ['pack {pack}: price {was} → {now}', 'пакет {pack}: цена {was} → {now}'],
  ['pack {pack}: credits {was} → {now}', 'пакет {pack}: кредиты {was} → {now}'],
  ['pack {pack} is added: {facts}', 'пакет {pack} добавляется: {facts}'],
  ['pack {pack} is removed', 'пакет {pack} удаляется'],
  ['in money: a million credits: {was} → {now}', 'в деньгах: миллион кредитов: {was} → {now}'],
  ...Object.entries(tokens).map(
    ([english, russian]) =>
      [
        `in money: model {model}: a million ${english} {was} → {now}`,
        `в деньгах: модель {model}: миллион ${russian} {was} → {now}`,
      ] as const,
  ),
  [
    'in money: model {model}: a typical request {credits} credits, {was} → {after} credits, {now}',
    'в деньгах: модель {model}: обычный запрос {credits} кредитов, {was} → {after} кредитов, {now}',
  ],
  [
    'in money: model {model}: the dearest request {was} → {now}',
    'в деньгах: модель {model}: самый дорогой запрос {was} → {now}',
  ],
  [
    'margin was not checked: there is no vendor price list',
    'маржа не проверена: нет прайс-листа поставщика',
  ],
  [
    'no known price is below cost; {unknown} costs are unknown',
    'ни одна известная цена не ниже себестоимости; неизвестных себестоимостей: {unknown}',
  ],
  ['{count} prices are below cost', 'цен ниже себестоимости: {count}'],
  ['refused: {count} prices are below cost', 'отклонено: цен ниже себестоимости: {count}'],
  [
    'version {version} is in force; every process has it in five seconds',
    'действует версия {version}; процессы получат её за пять секунд',
  ],
  ['the same as in force; nothing was changed', 'то же, что действует; ничего не изменилось'],
  [
    'another version was applied meanwhile; look at the difference again',
    'тем временем применили другую версию; посмотрите разницу ещё раз',
  ],

  // month seal
  ['{month}, {zone}: seal these figures for good', '{month}, {zone}: закрыть эти цифры навсегда'],
  [
    'later corrections appear in the month in which they become known',
    'поздние исправления появятся в том месяце, в котором о них узнают',
  ],
  ['sealed {month}, SHA-256 {digest}', 'месяц {month} закрыт, SHA-256 {digest}'],
  ['{month} is sealed already.', 'Месяц {month} уже закрыт.'],
  ['{month} can be sealed from {time} on.', 'Месяц {month} можно закрыть с {time}.'],
]
