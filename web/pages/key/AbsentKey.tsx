// For an active key that this browser does not have: the owner pastes it, or reissues it.
import { useQueryClient } from '@tanstack/react-query'
import { useTranslation } from 'react-i18next'
import type { Brand, KeyState } from '../../../src/cabinet/contract/contract.ts'
import { KeyringUnavailable } from '../../runtime/keyring.ts'
import { useMe } from '../../runtime/session.ts'
import { Banner } from '../../ui/Banner.tsx'
import { Form } from '../../ui/form/Form.tsx'
import { PasswordField } from '../../ui/form/PasswordField.tsx'
import { useForm } from '../../ui/form/use-form.ts'
import { Panel } from '../../ui/parts.tsx'
import { useToast } from '../../ui/Toasts.tsx'
import { storePastedKey } from './issue-key.ts'
import { KeyFacts, KeyValue } from './KeyPanel.tsx'
import { storedKeysQuery } from './stored-keys.ts'

export function AbsentKey(props: {
  readonly state: KeyState
  readonly brand: Brand
  readonly isUnavailable: boolean
}) {
  const { state, brand, isUnavailable } = props
  const { t } = useTranslation()
  const { active } = state
  if (active === null) return null
  return (
    <Panel title={t('key.value')}>
      <div className="grid gap-5">
        <KeyValue slug={brand.vendorSlug} last4={active.last4} plain={undefined} />
        <KeyFacts active={active} />
        {isUnavailable ? (
          <Banner tone="warn" title={t('key.closed')}>
            {t('key.closedText')}
          </Banner>
        ) : (
          <>
            <Banner title={t('key.absent')}>{t('key.absentText', { last4: active.last4 })}</Banner>
            <PasteForm state={state} slug={brand.vendorSlug} />
          </>
        )}
      </div>
    </Panel>
  )
}

function PasteForm({ state, slug }: { readonly state: KeyState; readonly slug: string }) {
  const { t } = useTranslation()
  const { account } = useMe()
  const client = useQueryClient()
  const toast = useToast()
  const form = useForm({
    initial: { plain: '' },
    check: ({ plain }) => ({ plain: plain.trim() === '' ? t('key.pasteMissing') : undefined }),
    errorFields: {
      field_invalid: 'plain',
      attempts_exceeded: 'plain',
      key_attempts_exceeded: 'plain',
    },
    send: async ({ plain }) => {
      try {
        if (!(await storePastedKey(account, state, plain.trim()))) {
          form.setError(t('key.pasteWrong'))
          return
        }
      } catch (error) {
        if (!(error instanceof KeyringUnavailable)) throw error
        form.setError(t('key.closed'))
        return
      }
      toast(t('key.pasted'))
      await client.invalidateQueries({ queryKey: storedKeysQuery(account).queryKey })
    },
  })
  return (
    <Form form={form} submit={t('key.pasteAction')}>
      <PasswordField
        label={t('key.paste')}
        hint={t('key.pasteHint', { prefix: `sk-${slug}-` })}
        {...form.text('plain')}
        autoComplete="off"
      />
    </Form>
  )
}
