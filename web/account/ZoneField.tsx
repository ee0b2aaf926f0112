// The field for the time zone: the system's unless the owner chose another. Days of usage begin at
// its midnight, so a change refetches the overview.
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useMemo } from 'react'
import { useTranslation } from 'react-i18next'
import { useFormat } from '../format/use-format.ts'
import { call } from '../runtime/api.ts'
import { systemZone } from '../runtime/preferences.ts'
import { homeQuery, meQuery } from '../runtime/queries.ts'
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
  // The server writes e-mails and statements, so it must know the zone too.
  const save = useMutation({
    mutationFn: (chosen: string) => call('POST /api/me/zone', { body: { zone: chosen } }),
    onSuccess: (me) => void client.setQueryData(meQuery.queryKey, me),
    onError: showError,
  })
  const now = format.moment(new Date().toISOString())
  function choose(value: string): void {
    chooseZone(value === SYSTEM ? undefined : value)
    void client.invalidateQueries({ queryKey: homeQuery.queryKey })
    save.mutate(value === SYSTEM ? systemZone() : value)
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
