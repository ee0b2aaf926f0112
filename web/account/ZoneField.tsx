// The time zone: the system's unless the owner chose another. Days of the usage begin at its
// midnight, so what counts days is asked for anew.
import { useQueryClient } from '@tanstack/react-query'
import { useMemo } from 'react'
import { useTranslation } from 'react-i18next'
import { homeAsk } from '../asks.ts'
import { useFormat } from '../format.ts'
import { SelectField } from '../ui/Field.tsx'
import { chooseZone, hasChosenZone, systemZone, useZone, zones } from '../zone.ts'

const SYSTEM = 'system'

export function ZoneField() {
  const { t } = useTranslation()
  const client = useQueryClient()
  const format = useFormat()
  const zone = useZone()
  const all = useMemo(() => zones(), [])
  const now = format.moment(new Date().toISOString())
  function choose(value: string): void {
    chooseZone(value === SYSTEM ? undefined : value)
    void client.invalidateQueries({ queryKey: homeAsk.queryKey })
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
