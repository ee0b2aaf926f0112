// The words of the feed, in both languages.
import type { Incident, ServicePart } from '../../contract/status.ts'

export type Language = 'ru' | 'en'

type FeedWords = {
  readonly title: string
  readonly part: Readonly<Record<ServicePart, string>>
  readonly kind: Readonly<Record<Incident['kind'], string>>
  readonly state: Readonly<Record<Incident['updates'][number]['state'], string>>
  outage(part: string): string
  outageOver(part: string): string
  began(at: string): string
  ended(at: string, seconds: number): string
  planned(from: string, to: string): string
}

export const feedWords: Readonly<Record<Language, FeedWords>> = {
  ru: {
    title: 'состояние сервиса',
    part: {
      gateway: 'API для программ',
      models: 'Модели',
      payments: 'Оплата и зачисление',
      letters: 'Письма',
    },
    kind: { incident: 'Сбой', maintenance: 'Плановые работы' },
    state: {
      investigating: 'выясняем причину',
      identified: 'причина найдена',
      watching: 'наблюдаем',
      planned: 'запланировано',
      closed: 'завершено',
    },
    outage: (part) => `${part}: не работает`,
    outageOver: (part) => `${part}: снова работает`,
    began: (at) => `Началось: ${at}.`,
    ended: (at, seconds) => `Закончилось: ${at}. Длилось: ${minutes(seconds, 'мин', 'с')}.`,
    planned: (from, to) => `Время работ: с ${from} до ${to}.`,
  },
  en: {
    title: 'service status',
    part: {
      gateway: 'API',
      models: 'Models',
      payments: 'Payments and top-ups',
      letters: 'E-mails',
    },
    kind: { incident: 'Incident', maintenance: 'Maintenance' },
    state: {
      investigating: 'investigating',
      identified: 'cause found',
      watching: 'monitoring',
      planned: 'scheduled',
      closed: 'resolved',
    },
    outage: (part) => `${part}: down`,
    outageOver: (part) => `${part}: working again`,
    began: (at) => `Began: ${at}.`,
    ended: (at, seconds) => `Ended: ${at}. Duration: ${minutes(seconds, 'min', 's')}.`,
    planned: (from, to) => `Scheduled from ${from} to ${to}.`,
  },
}

function minutes(seconds: number, minute: string, second: string): string {
  const whole = Math.floor(seconds / 60)
  const rest = `${seconds % 60} ${second}`
  return whole === 0 ? rest : `${whole} ${minute} ${rest}`
}
