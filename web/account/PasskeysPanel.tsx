// Lists, adds, renames and removes passkeys. Adding and removing need recent proofs.
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { KeyRound, Pencil, Trash2 } from 'lucide-react'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import type { PasskeyLine } from '../../src/cabinet/contract/contract.ts'
import { call } from '../runtime/api.ts'
import { useErrorText } from '../runtime/errors.ts'
import { meQuery, passkeysQuery } from '../runtime/queries.ts'
import { hasPasskeys } from '../runtime/webauthn.ts'
import { Moment } from '../ui/amounts.tsx'
import { Button, IconButton } from '../ui/Button.tsx'
import { ConfirmDialog, Dialog } from '../ui/dialog/Dialog.tsx'
import { TextField } from '../ui/form/Field.tsx'
import { Form } from '../ui/form/Form.tsx'
import { useForm } from '../ui/form/use-form.ts'
import { Panel } from '../ui/parts.tsx'
import { QueryView } from '../ui/QueryView.tsx'
import { useToast } from '../ui/Toasts.tsx'
import { addPasskey } from './passkey.ts'
import { useStepUp } from './StepUp.tsx'

/** The server's limit. */
const NAME_LENGTH_MAX = 60

type Open = { readonly what: 'rename' | 'remove'; readonly passkey: PasskeyLine } | undefined

export function PasskeysPanel() {
  const { t } = useTranslation()
  const query = useQuery(passkeysQuery)
  const [isAdding, setAdding] = useState(false)
  const [open, setOpen] = useState<Open>()
  const close = () => setOpen(undefined)
  return (
    <Panel title={t('passkey.title')} hint={t('passkey.hint')}>
      <QueryView query={query} lines={1}>
        {({ passkeys }) => (
          <ul className="mb-4 grid empty:hidden">
            {passkeys.map((one) => (
              <PasskeyItem key={one.id} passkey={one} onOpen={setOpen} />
            ))}
          </ul>
        )}
      </QueryView>
      {hasPasskeys() ? (
        <Button onClick={() => setAdding(true)}>{t('passkey.add')}</Button>
      ) : (
        <p className="text-soft">{t('passkey.unsupported')}</p>
      )}
      <Dialog
        isOpen={isAdding}
        onClose={() => setAdding(false)}
        title={t('passkey.add')}
        text={t('passkey.addText')}
      >
        <AddForm onDone={() => setAdding(false)} />
      </Dialog>
      <Dialog isOpen={open?.what === 'rename'} onClose={close} title={t('passkey.rename')}>
        {open !== undefined && <RenameForm passkey={open.passkey} onDone={close} />}
      </Dialog>
      {open !== undefined && open.what === 'remove' && (
        <RemoveDialog passkey={open.passkey} onDone={close} />
      )}
    </Panel>
  )
}

function PasskeyItem(props: {
  readonly passkey: PasskeyLine
  readonly onOpen: (open: Open) => void
}) {
  const { t } = useTranslation()
  const { passkey, onOpen } = props
  const name = passkey.name === '' ? t('passkey.unnamed') : passkey.name
  return (
    <li className="flex items-center gap-3 border-b border-line py-2 last:border-0">
      <KeyRound aria-hidden className="size-5 shrink-0 text-soft" />
      <div className="min-w-0 flex-1">
        <p className="wrap-anywhere">{name}</p>
        <p className="text-sm text-soft">
          {t('passkey.since')} <Moment at={passkey.createdAt} />
        </p>
      </div>
      <IconButton
        label={t('passkey.renameOf', { name })}
        icon={Pencil}
        onClick={() => onOpen({ what: 'rename', passkey })}
      />
      <IconButton
        label={t('passkey.removeOf', { name })}
        icon={Trash2}
        onClick={() => onOpen({ what: 'remove', passkey })}
      />
    </li>
  )
}

function useRefreshList(): () => Promise<void> {
  const client = useQueryClient()
  return async () => {
    await client.invalidateQueries({ queryKey: passkeysQuery.queryKey })
    await client.invalidateQueries({ queryKey: meQuery.queryKey })
  }
}

function AddForm({ onDone }: { readonly onDone: () => void }) {
  const { t } = useTranslation()
  const withStepUp = useStepUp()
  const refreshList = useRefreshList()
  const toast = useToast()
  const form = useForm({
    initial: { name: '' },
    async send({ name }) {
      await withStepUp(() => addPasskey(name.trim()))
      onDone()
      toast(t('passkey.added'))
      await refreshList()
    },
  })
  return (
    <Form form={form} submit={t('action.continue')} isWide>
      <TextField
        {...form.text('name')}
        label={t('passkey.name')}
        hint={t('passkey.nameHint')}
        isOptional
        maxLength={NAME_LENGTH_MAX}
      />
    </Form>
  )
}

function RenameForm(props: { readonly passkey: PasskeyLine; readonly onDone: () => void }) {
  const { t } = useTranslation()
  const { passkey, onDone } = props
  const refreshList = useRefreshList()
  const form = useForm({
    initial: { name: passkey.name },
    check: ({ name }) => ({ name: name.trim() === '' ? t('field.required') : undefined }),
    async send({ name }) {
      const body = { id: passkey.id, name: name.trim() }
      await call('POST /api/auth/passkey/update-passkey', { body })
      onDone()
      await refreshList()
    },
  })
  return (
    <Form form={form} submit={t('action.save')} isWide>
      <TextField {...form.text('name')} label={t('passkey.name')} maxLength={NAME_LENGTH_MAX} />
    </Form>
  )
}

function RemoveDialog(props: { readonly passkey: PasskeyLine; readonly onDone: () => void }) {
  const { t } = useTranslation()
  const { passkey, onDone } = props
  const withStepUp = useStepUp()
  const refreshList = useRefreshList()
  const errorText = useErrorText()
  const remove = useMutation({
    mutationFn: () =>
      withStepUp(() => call('POST /api/auth/passkey/delete-passkey', { body: { id: passkey.id } })),
    onSuccess: async () => {
      await refreshList()
      onDone()
    },
  })
  return (
    <ConfirmDialog
      isOpen
      onClose={onDone}
      title={t('passkey.removeTitle')}
      text={t('passkey.removeText')}
      confirm={t('passkey.remove')}
      isPending={remove.isPending}
      error={remove.isError ? errorText(remove.error) : undefined}
      onConfirm={() => remove.mutate()}
    />
  )
}
