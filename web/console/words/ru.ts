// Everything the console says in Russian. What the cabinet's components say is taken from its
// words.
import { account } from '../../words/ru/account.ts'
import { errors } from '../../words/ru/errors.ts'
import { frame } from '../../words/ru/frame.ts'
import { catalogue } from './ru-catalogue.ts'
import { command } from './ru-command.ts'
import { health } from './ru-health.ts'
import { month } from './ru-month.ts'
import { own } from './ru-own.ts'
import { pages } from './ru-pages.ts'
import { figureRows, queueCommands, queues } from './ru-queues.ts'

export const ru = {
  ...frame,
  ...account,
  errors: {
    ...errors,
    permission_missing: 'Ваша роль этого не позволяет.',
    thing_unknown: 'Такого здесь нет. Возможно, номер введён с ошибкой.',
    command_refused: 'Команда не выполнена.',
    command_unknown: 'Консоль не выполняет эту команду. Выполните её в терминале: op.',
    sign_in_throttled: 'Слишком много попыток входа.',
    operator_session_missing: 'Сеанс завершён. Войдите ещё раз.',
    second_factor_missing: 'Сначала подтвердите вход кодом или без пароля.',
    second_factor_not_set_up: 'Приложение-аутентификатор ещё не подключено.',
    invitation_wrong: 'Код приглашения уже использован или устарел. Попросите новый.',
    operator_password_weak: 'Пароль слишком короткий или слишком распространённый.',
    password_checks_overloaded:
      'Сейчас входит слишком много людей. Попробуйте через несколько секунд.',
    oidc_sign_in_refused:
      'Войти не получилось. Нужен подтверждённый адрес, который есть среди операторов.',
    oidc_unavailable: 'Сервис входа не отвечает. Войдите по паролю.',
    operator_passkey_wrong: 'Войти без пароля не получилось. Попробуйте ещё раз.',
  },
  console: {
    ...{ ...pages, ...catalogue, ...health, month, own, queues, figureRows },
    command: { ...command, ...queueCommands },
  },
} as const
