// Letters to owners in Russian. Plain sentences, the reason first, then what to do.
import type { Sentences } from '../../platform/mail/letter.ts'
import type { Circumstances, Facts, Setting, Words } from './notice.ts'

export const russian: Words = {
  frame: {
    locale: 'ru-RU',
    signature: (brand, support) =>
      `${brand}. Это письмо о вашем аккаунте, отписаться от него нельзя. ` + `Вопросы: ${support}`,
  },
  letters: {
    'confirm-email': ({ link, hours }, { brand }) => ({
      subject: `Подтвердите адрес для ${brand}`,
      lines: [
        `Кто-то, надеемся, вы, регистрируется в ${brand} с этим адресом.`,
        'Откройте ссылку и введите выбранный пароль. До этого аккаунта ещё нет.',
      ],
      button: { label: 'Подтвердить адрес', link },
      more: [
        `Ссылка действует ${hours} ч. и только вместе с этим паролем.`,
        'Если это были не вы, ничего не делайте: без вашего ответа ничего не будет создано.',
      ],
    }),
    'already-registered': ({ signInLink, resetLink }, { brand }) => ({
      subject: `У вас уже есть аккаунт в ${brand}`,
      lines: [
        'Кто-то, возможно, вы, указал этот адрес, а у него уже есть аккаунт.',
        'Ничего не изменилось. Войдите как обычно.',
      ],
      button: { label: 'Войти', link: signInLink },
      more: [
        `Если пароль забыт, выберите новый: ${resetLink}`,
        'Если это были не вы, ничего не делайте.',
      ],
    }),
    'reset-password': ({ link, minutes }, { brand }) => ({
      subject: `Новый пароль для ${brand}`,
      lines: ['Кто-то, надеемся, вы, запросил новый пароль. Откройте ссылку и выберите его.'],
      button: { label: 'Выбрать новый пароль', link },
      more: [
        `Ссылка действует один раз, ${minutes} мин. После смены пароля все сеансы завершатся.`,
        'Если это были не вы, ничего не делайте: останется прежний пароль.',
      ],
    }),
    'password-guessed': (facts, setting) => ({
      subject: `Кто-то подбирает ваш пароль в ${setting.brand}`,
      lines: [
        'К вашему аккаунту слишком часто вводили неверный пароль, ' +
          `последний раз ${circumstances(facts, setting)}.`,
        `Вход из незнакомых браузеров закрыт на ${facts.minutes} мин. ` +
          'Браузеров, которыми вы уже пользовались, это не касается.',
      ],
      more: [`Второй фактор или ключ доступа делают подбор бессмысленным: ${setting.securityLink}`],
    }),
    'new-device': (facts, setting) =>
      event(facts, setting, {
        subject: `Новый вход в ${setting.brand}`,
        line: 'В ваш аккаунт вошли из браузера, которого мы раньше не видели',
      }),
    'password-changed': (facts, setting) =>
      event(facts, setting, {
        subject: `Пароль для ${setting.brand} изменён`,
        line: 'Пароль вашего аккаунта изменён, остальные сеансы завершены',
      }),
    'email-change-asked': (facts, setting) =>
      event(facts, setting, {
        subject: `Смена адреса в ${setting.brand}`,
        line:
          `Вместо ${facts.oldEmail} у аккаунта будет адрес ${facts.newEmail}, ` +
          'как только его подтвердят',
      }),
    'confirm-new-email': ({ link, minutes }, { brand }) => ({
      subject: `Подтвердите новый адрес для ${brand}`,
      lines: ['Аккаунт хотят перевести на этот адрес. Откройте ссылку там, где вы в него вошли.'],
      button: { label: 'Подтвердить новый адрес', link },
      more: [`Ссылка действует один раз, ${minutes} мин. Если это были не вы, ничего не делайте.`],
    }),
    'email-changed': (facts, setting) =>
      event(facts, setting, {
        subject: `Адрес в ${setting.brand} изменён`,
        line: `Теперь адрес вашего аккаунта ${facts.newEmail}; раньше был ${facts.oldEmail}`,
      }),
    'second-factor-on': (facts, setting) =>
      event(facts, setting, {
        subject: `Второй фактор в ${setting.brand} включён`,
        line: 'При входе с паролем теперь нужен ещё и код из приложения',
      }),
    'second-factor-off': (facts, setting) =>
      event(facts, setting, {
        subject: `Второй фактор в ${setting.brand} выключен`,
        line: 'Для входа снова достаточно одного пароля',
      }),
    'recovery-code-used': (facts, setting) =>
      event(facts, setting, {
        subject: `Использован код восстановления в ${setting.brand}`,
        line: 'В ваш аккаунт вошли с кодом восстановления вместо кода из приложения',
      }),
    'passkey-added': (facts, setting) =>
      event(facts, setting, {
        subject: `В ${setting.brand} добавлен ключ доступа`,
        line: `Ключом доступа${named(facts.name)} теперь можно войти в ваш аккаунт`,
      }),
    'passkey-removed': (facts, setting) =>
      event(facts, setting, {
        subject: `В ${setting.brand} удалён ключ доступа`,
        line: `Ключом доступа${named(facts.name)} больше нельзя войти в ваш аккаунт`,
      }),
    'key-created': (facts, setting) =>
      event(facts, setting, {
        subject: `Создан API-ключ в ${setting.brand}`,
        line: `Действует API-ключ, который кончается на ${facts.last4}`,
      }),
    'key-reissued': (facts, setting) =>
      event(facts, setting, {
        subject: `API-ключ в ${setting.brand} перевыпущен`,
        line: `Действует новый API-ключ, который кончается на ${facts.last4}, а прежний остановлен`,
      }),
    'key-revoked': (facts, setting) =>
      event(facts, setting, {
        subject: `API-ключ в ${setting.brand} отозван`,
        line: `API-ключ, который кончается на ${facts.last4}, остановлен`,
      }),
    'account-closed': closed,
  },
}

function circumstances({ atMs, address, device }: Circumstances, setting: Setting): string {
  const from = [device, address].filter((part) => part !== '').join(', ')
  return `${setting.time(atMs)}${from === '' ? '' : ` (${from})`}`
}

function event(
  facts: Circumstances,
  setting: Setting,
  { subject, line }: { readonly subject: string; readonly line: string },
): Sentences {
  return {
    subject,
    lines: [
      `${line}: ${circumstances(facts, setting)}.`,
      'Если это были вы, делать ничего не надо.',
    ],
    button: { label: 'Это был не я', link: setting.securityLink },
    more: ['Если это были не вы, сразу смените пароль и завершите остальные сеансы.'],
  }
}

function named(name: string): string {
  return name === '' ? '' : ` «${name}»`
}

function closed(facts: Facts['account-closed'], { brand, time, day }: Setting): Sentences {
  return {
    subject: `Ваш аккаунт в ${brand} закрыт`,
    lines: [
      `Аккаунт закрыт: ${time(facts.atMs)}. Его API-ключ остановлен.`,
      facts.unspent === 'refund'
        ? 'Вы попросили вернуть неизрасходованную часть; мы напишем, когда она будет отправлена.'
        : 'Вы отказались от неизрасходованной части.',
      'Записи о платежах хранятся, как требует закон. ' +
        `Ваши личные данные будут стёрты: ${day(facts.eraseAtMs)}.`,
    ],
    more: ['Если это были не вы, сразу напишите по адресу ниже.'],
  }
}
