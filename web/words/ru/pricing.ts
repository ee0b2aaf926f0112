// What a price list, a multiplier or a tool is called, in Russian; in the middle of a sentence.

export const pricing = {
  price: {
    above_one: 'запрос длиннее {{shown}} токена',
    above_few: 'запрос длиннее {{shown}} токенов',
    above_many: 'запрос длиннее {{shown}} токенов',
    above_other: 'запрос длиннее {{shown}} токенов',
    dimension: {
      speed: 'скорость',
      inference_geo: 'регион обработки',
      service_tier: 'уровень обслуживания',
    },
    /** What applies when a request asks for nothing. */
    usual: { speed: 'обычная', inference_geo: 'любой', service_tier: 'обычный' },
    value: {
      fast: 'быстрый режим',
      us: 'США',
      eu: 'ЕС',
      priority: 'приоритет',
      batch: 'пакетная обработка',
    },
    times: '{{value}} ×{{factor}}',
    tool: {
      web_search: 'поиск в интернете',
      web_fetch: 'загрузка страниц',
      code_execution: 'выполнение кода',
      tool_search: 'поиск инструментов',
      server_tools: 'другие серверные инструменты',
      mcp: 'инструменты MCP',
      advisor: 'модель-советник',
      fallbacks: 'запасная модель',
      compaction: 'сжатие контекста',
    },
    perUse: '{{tool}}: {{credits}} за вызов',
  },
} as const
