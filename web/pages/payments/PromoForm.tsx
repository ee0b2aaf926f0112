// A promo code. A wrong one and a used one get the same answer, so that nobody can find out which
// codes exist.
import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { usePhrases } from '../../format/phrases.ts'
import { call } from '../../runtime/api.ts'
import { homeAsk } from '../../runtime/asks.ts'
import { Banner } from '../../ui/Banner.tsx'
import { Button } from '../../ui/Button.tsx'
import { TextField } from '../../ui/form/Field.tsx'
import { useForm } from '../../ui/form/form.ts'
import { Panel } from '../../ui/parts.tsx'

/** Longer than any code we print; the server has its own limit. */
const CODE_LENGTH_MAX = 100

export function PromoForm() {
  const { t } = useTranslation()
  const client = useQueryClient()
  const phrases = usePhrases()
  const [said, setSaid] = useState<string>()
  const form = useForm({
    start: { code: '' },
    check: ({ code }) => ({ code: code.trim() === '' ? t('promo.missing') : undefined }),
    blame: {
      promo_refused: 'code',
      promo_attempts_exceeded: 'code',
      attempts_exceeded: 'code',
      field_invalid: 'code',
    },
    send: async ({ code }) => {
      setSaid(undefined)
      const { credits } = await call('POST /api/promo', { body: { code: code.trim() } })
      setSaid(t('promo.applied', { credits: phrases.credits(credits) }))
      form.set('code', '')
      await client.invalidateQueries({ queryKey: homeAsk.queryKey })
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
          {said !== undefined && <Banner tone="good">{said}</Banner>}
        </div>
        <div role="alert" className="empty:hidden">
          {form.error !== undefined && <Banner tone="bad">{form.error}</Banner>}
        </div>
      </form>
    </Panel>
  )
}
