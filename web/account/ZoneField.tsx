// The time zone: the system's unless the owner chose another. Days of the usage begin at its
// midnight, so what counts days is asked for anew.
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useMemo } from 'react'
import { useTranslation } from 'react-i18next'
import { useFormat } from '../format/format.ts'
import { call } from '../runtime/api.ts'
import { homeAsk, meAsk } from '../runtime/asks.ts'
import { systemZone } from '../runtime/here.ts'
import { chooseZone, hasChosenZone, useZone, zones } from '../runtime/zone.ts'
import { SelectField } from '../ui/form/Field.tsx'
import { useErrorToast } from '../ui/Toasts.tsx'

const SYSTEM = 'system'

export function ZoneField() {
  const { t } = useTranslation()
  const client = useQueryClient()
  const showError = useErrorToast()
  const format = useFormat()
  const zone = useZone()
  const all = useMemo(() => zones(), [])
  // Letters and statements are written where no browser is.
  const keep = useMutation({
    mutationFn: (chosen: string) => call('POST /api/me/zone', { body: { zone: chosen } }),
    onSuccess: (me) => void client.setQueryData(meAsk.queryKey, me),
    onError: showError,
  })
  const now = format.moment(new Date().toISOString())
  function choose(value: string): void {
    chooseZone(value === SYSTEM ? undefined : value)
    void client.invalidateQueries({ queryKey: homeAsk.queryKey })
    keep.mutate(value === SYSTEM ? systemZone() : value)
  }
  return (
    <SelectField
      label={t('settings.zone')}
      hint={t('settings.zoneHint', { now })}
      value={hasChosenZone() ? zone : SYSTEM}
      onChange={choose}
      options={[
        { value: SYSTEM, label: t('settings.zoneSystem', { zone: systemZone() }) },
        ...all.map(({ name, offset }) => ({
          value: name,
          label: `${name.replaceAll('_', ' ')} (${offset})`,
        })),
      ]}
    />
  )
}
