// The form for a promo code. The answer for a wrong code and for a used one is the same, so that
// it does not reveal which codes exist.
import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { usePhrases } from '../../format/phrases.ts'
import { call } from '../../runtime/api.ts'
import { homeQuery } from '../../runtime/queries.ts'
import { Banner } from '../../ui/Banner.tsx'
import { Button } from '../../ui/Button.tsx'
import { TextField } from '../../ui/form/Field.tsx'
import { useForm } from '../../ui/form/use-form.ts'
import { Panel } from '../../ui/parts.tsx'

/** Longer than any code; the server has its own limit. */
const CODE_LENGTH_MAX = 100

export function PromoForm() {
  const { t } = useTranslation()
  const client = useQueryClient()
  const phrases = usePhrases()
  const [applied, setApplied] = useState<string>()
  const form = useForm({
    initial: { code: '' },
    check: ({ code }) => ({ code: code.trim() === '' ? t('promo.missing') : undefined }),
    errorFields: {
      promo_refused: 'code',
      promo_attempts_exceeded: 'code',
      attempts_exceeded: 'code',
      field_invalid: 'code',
    },
    send: async ({ code }) => {
      setApplied(undefined)
      const { credits } = await call('POST /api/promo', { body: { code: code.trim() } })
      setApplied(t('promo.applied', { credits: phrases.credits(credits) }))
      form.set('code', '')
      await client.invalidateQueries({ queryKey: homeQuery.queryKey })
    },
  })
  return (
    <Panel title={t('promo.title')} hint={t('promo.hint')}>
      <form noValidate onSubmit={form.onSubmit} className="grid max-w-md gap-4">
        <div className="grid gap-3 sm:grid-cols-[1fr_auto] sm:items-start">
          <TextField
            label={t('promo.code')}
            {...form.text('code')}
            autoComplete="off"
            autoCapitalize="characters"
            spellCheck={false}
            maxLength={CODE_LENGTH_MAX}
          />
          <Button type="submit" isPending={form.isPending} className="sm:mt-7.5">
            {t('promo.apply')}
          </Button>
        </div>
        <div role="status" className="empty:hidden">
          {applied !== undefined && <Banner tone="good">{applied}</Banner>}
        </div>
        <div role="alert" className="empty:hidden">
          {form.error !== undefined && <Banner tone="bad">{form.error}</Banner>}
        </div>
      </form>
    </Panel>
  )
}
