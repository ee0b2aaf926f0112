// Russian e-mails about recovering an account whose owner lost the authenticator or the mailbox.
import type { EmailContent } from '../../platform/mail/email.ts'
import type { EmailFacts, EmailTemplates, TemplateContext } from './email-kinds.ts'

type RecoveryKinds = Extract<keyof EmailFacts, `recovery-${string}`>
type Templates = Pick<EmailTemplates['templates'], Exclude<RecoveryKinds, 'recovery-code-used'>>
type Facts = EmailFacts['recovery-opened']

export const russianRecovery: Templates = {
  'recovery-link': ({ link, minutes }, { brand }) => ({
    subject: `Восстановление доступа к ${brand}`,
    lines: [
      'Кто-то ввёл ваш пароль и сообщил, что приложение с кодами и коды восстановления потеряны. ' +
        'Если это были вы, откройте ссылку и введите пароль.',
    ],
    button: { label: 'Восстановить доступ', link },
    more: [
      `Ссылка действует ${minutes} минут.`,
      'Если это были не вы, кто-то знает ваш пароль: смените его сейчас. Без этой ссылки ничего ' +
        'не произойдёт.',
    ],
  }),
  'recovery-confirm': ({ link, lost, hours, waitHours }, { brand }) => ({
    subject: `Подтвердите восстановление аккаунта ${brand}`,
    lines: [
      'Поддержка начала восстановление аккаунта по вашей просьбе. ' +
        [
          ...(lost === 'authenticator' ? [] : ['Этот адрес станет адресом аккаунта.']),
          ...(lost === 'mailbox' ? [] : ['Двухфакторная аутентификация будет отключена.']),
        ].join(' '),
      `После подтверждения восстановление ждёт ${waitHours} ч, а мы предупреждаем владельца на ` +
        'все известные нам адреса. Когда его можно будет завершить, придёт ещё одно письмо.',
    ],
    button: { label: 'Подтвердить', link },
    more: [`Ссылка действует ${hours} ч. Если это были не вы, ничего не делайте.`],
  }),
  'recovery-opened': (facts, context) => warning(facts, context, 'запрошено восстановление'),
  'recovery-reminder': (facts, context) =>
    reminder(warning(facts, context, 'ждёт своего срока восстановление')),
  'recovery-ready': ({ link, lost, untilMs }, { brand, time }) => ({
    subject: `Можно завершить восстановление аккаунта ${brand}`,
    lines: [
      'Время ожидания прошло, и никто не остановил восстановление.',
      lost === 'authenticator'
        ? 'Войдите с паролем и снова выберите «Приложение с кодами потеряно».'
        : 'Откройте ссылку, чтобы завершить его, а затем задайте новый пароль.',
    ],
    button: { label: lost === 'authenticator' ? 'Войти' : 'Завершить', link },
    more: [`Это можно сделать до ${time(untilMs)}.`],
  }),
  'recovery-done': (facts, { brand, time }) => ({
    subject: `Двухфакторная аутентификация ${brand} отключена при восстановлении`,
    lines: [
      `Восстановление аккаунта завершено ${time(facts.atMs)}: двухфакторная аутентификация ` +
        'отключена, все сеансы завершены.',
      'Если это были вы, войдите и подключите приложение с кодами заново.',
      'Если это были не вы, отмените восстановление: двухфакторная аутентификация снова ' +
        'включится, все сеансы завершатся, а пароль перестанет действовать, пока вы не зададите ' +
        'новый.',
    ],
    button: { label: 'Отменить восстановление', link: facts.link },
    more: [`Ссылка действует до ${time(facts.untilMs)}.`],
  }),
  'recovery-stopped': (facts, { brand, time }) => ({
    subject: `Восстановление аккаунта ${brand} остановлено`,
    lines: [
      `Восстановление остановлено ${time(facts.atMs)}. Аккаунт остался прежним.`,
      'Если вы не просили о восстановлении, кто-то может знать ваш пароль или читать вашу почту: ' +
        'смените пароль.',
    ],
  }),
}

/** With a subject of its own: mail programs would hide it behind the first warning. */
function reminder(email: EmailContent): EmailContent {
  return { ...email, subject: email.subject.replace('Кто-то', 'Напоминание: кто-то') }
}

function warning(facts: Facts, { brand, time }: TemplateContext, what: string) {
  return {
    subject: `Кто-то восстанавливает доступ к вашему аккаунту ${brand}`,
    lines: [
      `Для вашего аккаунта ${what}: ${effect(facts)}.`,
      `Его можно завершить после ${time(facts.untilMs)}. Если это вы, делать ничего не нужно.`,
      'Если это не вы, остановите его сейчас. Входить для этого не нужно.',
    ],
    button: { label: 'Остановить восстановление', link: facts.link },
    more: [
      'Вход с кодом из приложения, с кодом восстановления или с ключом доступа тоже его ' +
        'остановит.',
      'Мы ни у кого не просим эту ссылку и коды из этого письма.',
    ],
  }
}

function effect({ lost, newEmail }: Facts): string {
  if (lost === 'authenticator') return 'двухфакторная аутентификация будет отключена'
  const moved = `адрес аккаунта сменится на ${newEmail}`
  return lost === 'both' ? `${moved}, двухфакторная аутентификация будет отключена` : moved
}
