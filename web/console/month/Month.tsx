// One month for the accountant: from opening to closing as a picture and by kind and pack, money,
// VAT, receipts and margin, corrections. It can be downloaded, printed on A4, and sealed.
import { useQuery } from '@tanstack/react-query'
import { useParams } from '@tanstack/react-router'
import { Download, Printer } from 'lucide-react'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import type { Month as MonthView } from '../../../src/operator/console/contract/month.ts'
import { useFormat } from '../../format/use-format.ts'
import { saveFile } from '../../runtime/save-file.ts'
import { Banner } from '../../ui/Banner.tsx'
import { Button } from '../../ui/Button.tsx'
import { Page } from '../../ui/Page.tsx'
import { Badge } from '../../ui/parts.tsx'
import { QueryView } from '../../ui/QueryView.tsx'
import { TextLink } from '../../ui/TextLink.tsx'
import { actions } from '../command/actions.ts'
import { CommandDialog } from '../command/Command.tsx'
import { paths } from '../paths.ts'
import { monthQuery } from '../queries.ts'
import { ActionButton } from '../queues/ActionButton.tsx'
import { Changes } from './Changes.tsx'
import { Liability } from './Liability.tsx'
import { stateOf, stateTones, useMonthName } from './names.ts'
import { Sections } from './Sections.tsx'

export function Month() {
  const { t } = useTranslation()
  const { month } = useParams({ from: '/staff/months/$month' })
  const query = useQuery(monthQuery(month))
  const monthName = useMonthName()
  return (
    <Page
      title={monthName(month)}
      lead={
        query.data === undefined ? undefined : (
          <>
            {t('console.month.lead', { zone: query.data.timeZone })}{' '}
            <span className="print:hidden">
              <TextLink to={paths.months}>{t('console.month.all')}</TextLink>
            </span>
          </>
        )
      }
      actions={query.data !== undefined && <Actions month={query.data} />}
    >
      <QueryView query={query} lines={12}>
        {(found) => (
          <div className="month-on-paper grid min-w-0 gap-6">
            <Seal month={found} />
            <Liability liability={found.liability} />
            <Sections lines={found.lines} />
            <Changes month={found} />
          </div>
        )}
      </QueryView>
    </Page>
  )
}

function Actions({ month }: { readonly month: MonthView }) {
  const { t } = useTranslation()
  const [subject, setSubject] = useState<string>()
  const canSeal = month.isOver && month.seal === null
  return (
    <div className="flex flex-wrap gap-2 print:hidden">
      <Button
        isSmall
        icon={Download}
        onClick={() => saveFile(`${month.month}.csv`, month.csv, 'text/csv;charset=utf-8')}
      >
        {t('console.month.csv')}
      </Button>
      <Button isSmall icon={Printer} onClick={() => window.print()}>
        {t('console.month.print')}
      </Button>
      {canSeal && (
        <ActionButton
          name="sealMonth"
          subject={month.month}
          act={(_, about) => setSubject(about)}
        />
      )}
      {subject !== undefined && (
        <CommandDialog
          action={actions.sealMonth}
          subject={subject}
          onClose={() => setSubject(undefined)}
        />
      )}
    </div>
  )
}

function Seal({ month }: { readonly month: MonthView }) {
  const { t } = useTranslation()
  const format = useFormat()
  const state = stateOf(month)
  const { seal } = month
  return (
    <div className="grid gap-3">
      <p className="flex flex-wrap items-center gap-x-3 gap-y-1">
        <Badge tone={stateTones[state]}>{t(`console.month.${state}`)}</Badge>
        {seal !== null && (
          <span className="min-w-0 text-sm text-soft wrap-anywhere">
            {t('console.month.sealText', {
              ...{ time: format.moment(seal.sealedAt), by: seal.sealedBy, digest: seal.digest },
              // React escapes it once.
              interpolation: { escapeValue: false },
            })}
          </span>
        )}
      </p>
      {state === 'differs' && <Banner tone="warn">{t('console.month.differsText')}</Banner>}
    </div>
  )
}
