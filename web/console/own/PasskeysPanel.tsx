// One's own passkeys: list, add, remove. The last factor of a person stays.
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { KeyRound, Trash2 } from 'lucide-react'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import type { OwnPasskey } from '../../../src/operator/console/contract/own.ts'
import { useErrorText } from '../../runtime/errors.ts'
import { hasPasskeys, makePasskey } from '../../runtime/webauthn.ts'
import { Moment } from '../../ui/amounts.tsx'
import { Button, IconButton } from '../../ui/Button.tsx'
import { ConfirmDialog, Dialog } from '../../ui/dialog/Dialog.tsx'
import { TextField } from '../../ui/form/Field.tsx'
import { Form } from '../../ui/form/Form.tsx'
import { useForm } from '../../ui/form/use-form.ts'
import { Panel } from '../../ui/parts.tsx'
import { useToast } from '../../ui/Toasts.tsx'
import { call, isRefused } from '../call.ts'
import { ownQuery } from '../queries.ts'
import type { WithProof } from './Proof.tsx'

/** The server's limit. */
const NAME_LENGTH_MAX = 60

export function PasskeysPanel(props: {
  readonly passkeys: readonly OwnPasskey[]
  readonly withProof: WithProof
}) {
  const { t } = useTranslation()
  const { passkeys, withProof } = props
  const [isAdding, setAdding] = useState(false)
  const [removed, setRemoved] = useState<OwnPasskey>()
  return (
    <Panel title={t('console.own.passkeys')} hint={t('console.own.passkeysHint')}>
      {passkeys.length === 0 && <p className="mb-4 text-soft">{t('console.own.noPasskeys')}</p>}
      <ul className="mb-4 grid empty:hidden">
        {passkeys.map((one) => (
          <Item key={one.id} passkey={one} onRemove={() => setRemoved(one)} />
        ))}
      </ul>
      {hasPasskeys() ? (
        <Button onClick={() => setAdding(true)}>{t('console.own.add')}</Button>
      ) : (
        <p className="text-soft">{t('console.own.unsupported')}</p>
      )}
      <Dialog isOpen={isAdding} onClose={() => setAdding(false)} title={t('console.own.add')}>
        <AddForm withProof={withProof} onDone={() => setAdding(false)} />
      </Dialog>
      {removed !== undefined && (
        <RemoveDialog passkey={removed} onDone={() => setRemoved(undefined)} />
      )}
    </Panel>
  )
}

function Item(props: { readonly passkey: OwnPasskey; readonly onRemove: () => void }) {
  const { t } = useTranslation()
  const { name, createdAt, usedAt } = props.passkey
  return (
    <li className="flex items-center gap-3 border-b border-line py-2 last:border-0">
      <KeyRound aria-hidden className="size-5 shrink-0 text-soft" />
      <div className="min-w-0 flex-1">
        <p className="wrap-anywhere">{name}</p>
        <p className="text-sm text-soft">
          {t('console.own.addedAt')} <Moment at={createdAt} />
          {usedAt !== null && (
            <>
              {' · '}
              {t('console.own.usedAt')} <Moment at={usedAt} isAgo />
            </>
          )}
        </p>
      </div>
      <IconButton
        label={t('console.own.removeOf', { name })}
        icon={Trash2}
        onClick={props.onRemove}
      />
    </li>
  )
}

function AddForm(props: { readonly withProof: WithProof; readonly onDone: () => void }) {
  const { t } = useTranslation()
  const client = useQueryClient()
  const toast = useToast()
  const { withProof, onDone } = props

  async function add(name: string): Promise<void> {
    const { ticket, options } = await call('POST /api/enrolment/passkey/begin')
    const response = await makePasskey(options)
    await call('POST /api/enrolment/passkey', { body: { ticket, response, name } })
    toast(t('console.own.added'))
    await client.invalidateQueries({ queryKey: ownQuery.queryKey })
  }

  const form = useForm({
    initial: { name: '' },
    check: ({ name }) => ({ name: name.trim() === '' ? t('field.required') : undefined }),
    async send({ name }) {
      await withProof(() => add(name.trim()))
      onDone()
    },
  })
  return (
    <Form form={form} submit={t('action.continue')} isWide>
      <TextField
        {...form.text('name')}
        label={t('console.own.name')}
        hint={t('console.own.nameHint')}
        maxLength={NAME_LENGTH_MAX}
        autoFocus
      />
    </Form>
  )
}

function RemoveDialog(props: { readonly passkey: OwnPasskey; readonly onDone: () => void }) {
  const { t } = useTranslation()
  const client = useQueryClient()
  const errorText = useErrorText()
  const { passkey, onDone } = props
  const remove = useMutation({
    mutationFn: () => call('POST /api/own/passkeys/:id/remove', { params: { id: passkey.id } }),
    onSuccess(own) {
      client.setQueryData(ownQuery.queryKey, own)
      onDone()
    },
  })
  const problem = isRefused(remove.error, 'second_factor_missing')
    ? t('console.own.last')
    : errorText(remove.error)
  return (
    <ConfirmDialog
      isOpen
      onClose={onDone}
      title={t('console.own.removeTitle')}
      text={t('console.own.removeText')}
      confirm={t('console.own.remove')}
      isPending={remove.isPending}
      error={remove.isError ? problem : undefined}
      onConfirm={() => remove.mutate()}
    />
  )
}
