// Answers of the status page: 90 days with outages, a maintenance and a day that nobody observed,
// and an incident that goes on.
import type {
  Incident,
  Status,
  StatusDay,
  StatusPart,
} from '../../../src/cabinet/contract/status.ts'

const LAST_DAY = Date.UTC(2026, 10, 18)
const DAY_MS = 86_400_000
const DAY_SECONDS = 86_400

const day = (back: number, seconds: Partial<StatusDay> = {}): StatusDay => {
  const rest = { failedSeconds: 0, plannedSeconds: 0, unknownSeconds: 0, ...seconds }
  const lost = rest.failedSeconds + rest.plannedSeconds + rest.unknownSeconds
  return {
    day: new Date(LAST_DAY - back * DAY_MS).toISOString().slice(0, 10),
    workingSeconds: DAY_SECONDS - lost,
    ...rest,
  }
}

function part(
  name: StatusPart['part'],
  state: StatusPart['state'],
  troubled: Readonly<Record<number, Partial<StatusDay>>>,
): StatusPart {
  const days = Array.from({ length: 80 }, (_, i) => day(79 - i, troubled[79 - i]))
  return { part: name, state, uptime: '99.94', observed: '98.75', days }
}

export function troubledStatus(): Status {
  return {
    at: '2026-11-18T09:20:00.000Z',
    isCurrent: true,
    parts: [
      part('gateway', 'working', { 31: { failedSeconds: 240 } }),
      part('models', 'down', { 0: { failedSeconds: 900 }, 17: { failedSeconds: 4_000 } }),
      part('payments', 'slow', { 12: { plannedSeconds: 7_200 }, 40: { unknownSeconds: 86_400 } }),
      part('letters', 'maintenance', { 0: { plannedSeconds: 1_800 } }),
    ],
    outages: [
      { id: '3', part: 'models', from: '2026-11-18T09:05:12.000Z', to: null },
      {
        ...{ id: '2', part: 'models', from: '2026-11-01T14:02:41.000Z' },
        to: '2026-11-01T15:09:21.000Z',
      },
      {
        ...{ id: '1', part: 'gateway', from: '2026-10-18T03:10:05.000Z' },
        to: '2026-10-18T03:14:05.000Z',
      },
    ],
    incidents: [],
  }
}

export const incident: Incident = {
  ...{ id: '1', kind: 'incident', parts: ['models'], from: '2026-11-18T09:05:00.000Z' },
  ...{ plannedTo: null, to: null },
  title: { ru: 'Часть ответов моделей приходит с ошибкой', en: 'Some model responses fail' },
  updates: [
    {
      ...{ at: '2026-11-18T09:18:00.000Z', state: 'identified' },
      text: {
        ru: 'Причина найдена: один из каналов связи перегружен. Переводим запросы на другой.',
        en: 'The cause is found: one connection is overloaded. Requests are moving to another.',
      },
    },
    {
      ...{ at: '2026-11-18T09:08:00.000Z', state: 'investigating' },
      text: { ru: 'Ищем причину.', en: 'Looking for the cause.' },
    },
  ],
}
