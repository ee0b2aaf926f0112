// What commands say that close, erase, unlock, or stop a recovery, as in ru-lines.ts.

export const endingSentences: readonly (readonly [english: string, russian: string])[] = [
  ['{who} (book {book})', '{who} (счёт {book})'],
  ['{who} (book {book}), closed {time} UTC', '{who} (счёт {book}), закрыт {time} UTC'],

  // close
  [
    'its key stops now; running requests end, and open orders run out',
    'ключ перестанет работать сразу; начатые запросы завершатся, срок заказов истечёт',
  ],
  [
    'then about {amount} of unspent credits goes back, the rest is forfeited',
    'затем вернётся около {amount} за непотраченные кредиты, остаток сгорит',
  ],
  [
    'then {credits} credits are forfeited; refundable now: {amount}',
    'затем сгорят кредиты: {credits}; сейчас можно было бы вернуть {amount}',
  ],
  [
    'at most {amount} of what was paid ends with it, held credits and open orders included; ' +
      'purchases: {purchases}',
    'из оплаченного закончится не больше {amount}, считая резерв и открытые заказы; ' +
      'покупок: {purchases}',
  ],
  [
    'then nobody can sign in; the owner gets an e-mail now and at the end',
    'затем войти будет нельзя; владелец получит письмо сейчас и в конце',
  ],
  [
    'the account of book {book} is closing; op closings shows its steps',
    'аккаунт счёта {book} закрывается; шаги видны на его странице',
  ],
  ['{email} is closing already: op closings', 'аккаунт {email} уже закрывается'],
  ['{email} is closed already', 'аккаунт {email} уже закрыт'],
  // What a closing waits for.
  ['{credits} credits are held by requests', 'запросы держат в резерве кредиты: {credits}'],
  ['{orders} orders can still be paid', 'ещё можно оплатить заказов: {orders}'],
  [
    'a change of its address or a recovery can be undone for a week',
    'смену адреса или восстановление доступа ещё можно отменить: неделя',
  ],
  ['the bank decides the dispute of {order}, op disputes', 'банк решает спор по заказу {order}'],
  ['rfd_{refund} of {amount}: {state}', 'возврат rfd_{refund} на {amount}: {state}'],
  [
    'rfd_{refund} of {amount}: decide it, op reviews',
    'возврат rfd_{refund} на {amount} ждёт решения в очереди',
  ],

  // erase
  [
    'its address and what people typed about it go, for good: consents, devices, letters,',
    'навсегда исчезнут адрес и всё, что о нём писали: согласия, устройства, письма,',
  ],
  [
    'payment methods, reasons, notes, names of sessions and labels; nothing brings them back',
    'способы оплаты, причины, примечания, названия сессий и метки; вернуть их нельзя',
  ],
  [
    'amounts, orders and the statement stay, under the id of the account',
    'суммы, заказы и выписка останутся под номером аккаунта',
  ],
  ['acc_{account} is erased', 'данные аккаунта acc_{account} стёрты'],
  ['acc_{account} was erased before', 'данные аккаунта acc_{account} стёрты раньше'],

  // unlock
  [
    'no guesses of its password keep unknown browsers out',
    'вход из новых браузеров не закрыт подбором пароля',
  ],
  [
    'wrong passwords keep unknown browsers out until {time} UTC',
    'из-за неверных паролей вход из новых браузеров закрыт до {time} UTC',
  ],
  [
    'wrong codes since the last right one: {codes}',
    'неверных кодов после последнего верного: {codes}',
  ],
  [
    'wrong codes lock its second factor until {time} UTC',
    'из-за неверных кодов второй фактор закрыт до {time} UTC',
  ],
  [
    'passkeys wait for the review of the reset at {time} UTC',
    'ключи доступа ждут проверки смены пароля {time} UTC',
  ],
  [
    'all counts of wrong passwords and codes are forgotten; nobody gets in by this',
    'все счётчики неверных паролей и кодов обнулятся; войти это никому не поможет',
  ],
  ['{who} (book {book}) is unlocked', 'вход для {who} (счёт {book}) разблокирован'],

  // recover stop
  [
    'rcv_{recovery} ({lost}) ends; its mailbox did not confirm it, and nobody is told',
    'rcv_{recovery} ({lost}) закончится; почта его не подтвердила, письма не будет',
  ],
  [
    'rcv_{recovery} ({lost}) ends; its owner gets an e-mail',
    'восстановление rcv_{recovery} ({lost}) закончится; владелец получит письмо',
  ],
  ['rcv_{recovery} is stopped', 'восстановление rcv_{recovery} остановлено'],
  ['rcv_{recovery} had ended', 'восстановление rcv_{recovery} уже закончилось'],
  ['{who} (book {book}) has no recovery that waits', 'у {who} (счёт {book}) нет восстановления'],
]

export const endingStates: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  lost: { mailbox: 'почтовый ящик', authenticator: 'второй фактор', both: 'ящик и второй фактор' },
}
