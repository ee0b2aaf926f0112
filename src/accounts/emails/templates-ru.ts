// E-mails to owners in Russian. Plain sentences, the reason first, then what to do.
import type { EmailContent } from '../../platform/mail/email.ts'
import type { EmailFacts, EmailTemplates, EventContext, TemplateContext } from './email-kinds.ts'
import { russianRecovery } from './recovery-ru.ts'

export const russian: EmailTemplates = {
  shared: {
    locale: 'ru-RU',
  },
  templates: {
    'confirm-email': ({ link, hours }, { brand }) => ({
      subject: `Подтвердите адрес для ${brand}`,
      lines: [
        `Этот адрес указали при регистрации в ${brand}.`,
        'Чтобы создать аккаунт, откройте ссылку. В другом браузере понадобится ваш пароль.',
      ],
      button: { label: 'Подтвердить адрес', link },
      more: [
        `Ссылка действует ${hours} ч.`,
        'Если это были не вы, проигнорируйте письмо: аккаунт не будет создан.',
      ],
    }),
    invitation: ({ link, hours }, { brand }) => ({
      subject: `Ваш аккаунт в ${brand}: задайте пароль`,
      lines: [
        `Для этого адреса подготовили аккаунт в ${brand}.`,
        'Чтобы создать его, откройте ссылку, придумайте пароль и примите документы.',
      ],
      button: { label: 'Создать аккаунт', link },
      more: [
        `Ссылка одноразовая и действует дней: ${hours / 24}.`,
        'Если вы этого не ждали, проигнорируйте письмо: аккаунт не будет создан.',
      ],
    }),
    'already-registered': ({ signInLink, resetLink }, { brand }) => ({
      subject: `У вас уже есть аккаунт в ${brand}`,
      lines: [
        'Кто-то, возможно вы, указал этот адрес при регистрации или смене почты. Но у вас уже ' +
          'есть аккаунт с этим адресом.',
        'Ничего не изменилось. Войдите как обычно.',
      ],
      button: { label: 'Войти', link: signInLink },
      more: [
        `Если вы забыли пароль, задайте новый: ${resetLink}`,
        'Если это были не вы, проигнорируйте письмо.',
      ],
    }),
    'reset-password': ({ link, minutes }, { brand }) => ({
      subject: `Смена пароля в ${brand}`,
      lines: ['Для вашего аккаунта запросили смену пароля. Откройте ссылку, чтобы задать новый.'],
      button: { label: 'Задать новый пароль', link },
      more: [
        `Ссылка одноразовая и действует ${minutes} мин. После смены пароля все сеансы завершатся.`,
        'Если это были не вы, проигнорируйте письмо: пароль останется прежним.',
      ],
    }),
    'password-guessed': (facts, context) => ({
      subject: `Кто-то подбирает ваш пароль в ${context.brand}`,
      lines: [
        'При входе в ваш аккаунт слишком много раз ввели неверный пароль, ' +
          `последний раз ${whenAndWhere(facts, context)}.`,
        `Вход из незнакомых браузеров заблокирован на ${facts.minutes} мин. ` +
          'Браузеров, которыми вы уже пользовались, это не касается.',
      ],
      more: [
        'Включите двухфакторную аутентификацию, чтобы одного пароля было мало: ' +
          context.securityLink,
      ],
    }),
    'new-device': (facts, context) =>
      event(facts, context, {
        subject: `Новый вход в ${context.brand}`,
        line: 'В ваш аккаунт вошли из нового браузера',
      }),
    'password-changed': (facts, context) =>
      event(facts, context, {
        subject: `Ваш пароль в ${context.brand} изменён`,
        line: 'Пароль вашего аккаунта изменён',
        also: 'Остальные сеансы завершены.',
      }),
    'email-change-asked': (facts, context) =>
      event(facts, context, {
        subject: `Запрошена смена адреса в ${context.brand}`,
        line: `Запрошена смена адреса с ${facts.oldEmail} на ${facts.newEmail}`,
        also: 'Адрес изменится, когда новый будет подтверждён.',
      }),
    'confirm-new-email': ({ link, minutes }, { brand }) => ({
      subject: `Подтвердите новый адрес для ${brand}`,
      lines: [
        `Этот адрес указали как новый адрес аккаунта в ${brand}. Чтобы подтвердить его, откройте ` +
          'ссылку в браузере, где вы вошли в этот аккаунт.',
      ],
      button: { label: 'Подтвердить новый адрес', link },
      more: [
        `Ссылка одноразовая и действует ${minutes} мин. Если это были не вы, проигнорируйте ` +
          'письмо.',
      ],
    }),
    'email-changed': (facts, context) =>
      event(facts, context, {
        subject: `Ваш адрес в ${context.brand} изменён`,
        line: `Адрес вашего аккаунта изменён с ${facts.oldEmail} на ${facts.newEmail}`,
      }),
    'email-change-undo': (facts, context) => ({
      subject: `Ваш адрес в ${context.brand} изменён: смену можно отменить`,
      lines: [
        `Адрес вашего аккаунта изменён с ${facts.oldEmail} на ${facts.newEmail}: ` +
          `${whenAndWhere(facts, context)}.`,
        'Если это были вы, ничего делать не нужно.',
        'Если это были не вы, отмените смену: аккаунт снова получит этот адрес, все сеансы ' +
          'завершатся, а мы пришлём ссылку, чтобы задать новый пароль.',
      ],
      button: { label: 'Отменить смену', link: facts.link },
      more: [`Ссылка сработает один раз и действует до ${context.time(facts.untilMs)}.`],
    }),
    'email-change-undone': (facts, context) => ({
      subject: `Смена адреса в ${context.brand} отменена`,
      lines: [
        `У аккаунта снова адрес ${facts.oldEmail}, а не ${facts.newEmail}. Смену отменили по ` +
          `ссылке, отправленной на ${facts.oldEmail}: ${whenAndWhere(facts, context)}.`,
        'Все сеансы завершены, старый пароль больше не действует. Ссылку, чтобы задать новый, мы ' +
          `отправили на ${facts.oldEmail}.`,
      ],
    }),
    'email-reserved': ({ untilMs }, { brand, time }) => ({
      subject: `Этот адрес пока нельзя использовать в ${brand}`,
      lines: [
        `Кто-то, возможно вы, указал этот адрес для аккаунта в ${brand}. Недавно он принадлежал ` +
          `другому аккаунту, и его ещё могут вернуть до ${time(untilMs)}.`,
        'После этого с ним можно зарегистрироваться. Если это были не вы, проигнорируйте письмо.',
      ],
    }),
    'second-factor-on': (facts, context) =>
      event(facts, context, {
        subject: `Двухфакторная аутентификация в ${context.brand} включена`,
        line: 'Для вашего аккаунта включена двухфакторная аутентификация',
        also: 'При входе с паролем теперь нужен ещё и код из приложения-аутентификатора.',
      }),
    'second-factor-off': (facts, context) =>
      event(facts, context, {
        subject: `Двухфакторная аутентификация в ${context.brand} выключена`,
        line: 'Для вашего аккаунта выключена двухфакторная аутентификация',
        also: 'Для входа теперь достаточно пароля.',
      }),
    'recovery-code-used': (facts, context) =>
      event(facts, context, {
        subject: `Использован код восстановления в ${context.brand}`,
        line: 'Для вашего аккаунта вместо кода из приложения использован код восстановления',
      }),
    'passkey-added': (facts, context) =>
      event(facts, context, {
        subject: `В ${context.brand} добавлен вход без пароля`,
        line: `В ваш аккаунт добавлен вход без пароля${named(facts.name)}`,
      }),
    'passkey-removed': (facts, context) =>
      event(facts, context, {
        subject: `В ${context.brand} удалён вход без пароля`,
        line: `Из вашего аккаунта удалён вход без пароля${named(facts.name)}`,
        also: 'Войти этим способом больше нельзя.',
      }),
    'key-created': (facts, context) =>
      event(facts, context, {
        subject: `API-ключ в ${context.brand} создан`,
        line: `Создан API-ключ, который оканчивается на ${facts.last4}`,
      }),
    'key-reissued': (facts, context) =>
      event(facts, context, {
        subject: `API-ключ в ${context.brand} перевыпущен`,
        line: 'Ваш API-ключ перевыпущен',
        also: `Новый ключ оканчивается на ${facts.last4}. Старый больше не действует.`,
      }),
    'key-revoked': (facts, context) =>
      event(facts, context, {
        subject: `API-ключ в ${context.brand} отключён`,
        line: `Отключён API-ключ, который оканчивается на ${facts.last4}`,
        also: 'Он больше не действует.',
      }),
    ...russianRecovery,
    'account-closing': closing,
    'account-closing-stopped': closingStopped,
    'account-closed': closed,
  },
}

function whenAndWhere({ atMs, address, device }: EventContext, context: TemplateContext): string {
  const from = [device, address].filter((part) => part !== '').join(', ')
  return `${context.time(atMs)}${from === '' ? '' : ` (${from})`}`
}

function event(
  facts: EventContext,
  context: TemplateContext,
  { subject, line, also }: { readonly subject: string; readonly line: string; also?: string },
): EmailContent {
  return {
    subject,
    lines: [
      also === undefined ? `${line}.` : `${line}. ${also}`,
      'Если это были вы, ничего делать не нужно.',
    ],
    facts: [
      ['Время', context.time(facts.atMs)],
      ['Браузер', facts.device],
      ['IP-адрес', facts.address],
    ],
    button: { label: 'Это не я', link: context.securityLink },
    more: ['Если это были не вы, сразу смените пароль и завершите остальные сеансы.'],
  }
}

function named(name: string): string {
  return name === '' ? '' : ` «${name}»`
}

function closing(
  { atMs, unspent, begunBy }: EmailFacts['account-closing'],
  { brand, securityLink, time }: TemplateContext,
): EmailContent {
  // Only the owner who began it can stop it.
  const isOwn = begunBy === 'owner'
  const begun = isOwn
    ? `Вы попросили закрыть аккаунт: ${time(atMs)}.`
    : `Мы начали закрывать ваш аккаунт: ${time(atMs)}.`
  return {
    subject: `Ваш аккаунт в ${brand} закрывается`,
    lines: [
      `${begun} Запросы с API-ключом больше не принимаются.`,
      'Сначала завершатся запросы, которые уже идут, и истекут открытые ссылки на оплату.',
      unspent === 'refund'
        ? 'Затем мы вернём деньги за неизрасходованные кредиты. О каждом возврате придёт письмо.'
        : 'Затем кредиты, оставшиеся на балансе, сгорят.',
      'Пока аккаунт не закрыт, вы можете войти и следить за каждым шагом в настройках.',
    ],
    ...(isOwn && { button: { label: 'Это не я', link: securityLink } }),
    more: [
      isOwn
        ? 'Если это были не вы, сразу смените пароль и остановите закрытие.'
        : 'Если вы не согласны, сразу напишите нам по адресу ниже.',
    ],
  }
}

function closingStopped(_: object, { brand }: TemplateContext): EmailContent {
  return {
    subject: `Ваш аккаунт в ${brand} остаётся открытым`,
    lines: [
      'Вы остановили закрытие аккаунта. Кредиты не тронуты.',
      'Если у вас был API-ключ, он остаётся отозванным. Новый можно создать в личном кабинете.',
    ],
    more: ['Если это были не вы, сразу напишите нам по адресу ниже.'],
  }
}

function closed(
  facts: EmailFacts['account-closed'],
  { brand, time, day }: TemplateContext,
): EmailContent {
  return {
    subject: `Ваш аккаунт в ${brand} закрыт`,
    lines: [
      `Ваш аккаунт закрыт: ${time(facts.atMs)}. API-ключ больше не действует.`,
      facts.unspent === 'refund'
        ? 'За неизрасходованные кредиты мы вернули всё, что можно; о каждом возврате есть письмо.'
        : 'Если на балансе оставались кредиты, они сгорели.',
      'Записи о платежах мы храним, как того требует закон. ' +
        `${day(facts.eraseAtMs)} мы удалим ваши персональные данные.`,
    ],
    more: ['Если это были не вы, сразу напишите нам по адресу ниже.'],
  }
}
