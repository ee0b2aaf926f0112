// The other figures of a month, by section: result and margin first, then money, VAT, receipts,
// requests and postings.
import { useTranslation } from 'react-i18next'
import type { MonthLine } from '../../../src/operator/console/contract/month.ts'
import { Facts, Panel } from '../../ui/parts.tsx'
import { useName } from '../use-name.ts'
import { useAmount, useFigureName, useItemName } from './names.ts'

/** In the order of the page; a section that a newer server sends comes last. */
const ORDER: readonly string[] = [
  ...['result', 'vendor cost', 'money', 'vat', 'receipts', 'requests', 'postings', 'adjustments'],
]

export function Sections({ lines }: { readonly lines: readonly MonthLine[] }) {
  const { t } = useTranslation()
  const sectionName = useName('month.section')
  const bySection = Map.groupBy(lines, ({ section }) => section)
  const place = (section: string) => ORDER.indexOf(section) >>> 0
  const sections = [...bySection].toSorted(([a], [b]) => place(a) - place(b))
  return (
    <div className="columns-1 gap-6 lg:columns-2 print:columns-2">
      {sections.map(([section, own]) => (
        <div key={section} className="mb-6 break-inside-avoid">
          <Panel title={sectionName(section)}>
            <div className="grid gap-5">
              {[...Map.groupBy(own, ({ item }) => item)].map(([item, figures]) => (
                <Item key={item} figures={figures} hasHeading={item !== ''} />
              ))}
            </div>
          </Panel>
        </div>
      ))}
      {sections.length === 0 && <p className="text-soft">{t('console.none')}</p>}
    </div>
  )
}

function Item(props: { readonly figures: readonly MonthLine[]; readonly hasHeading: boolean }) {
  const { figures, hasHeading } = props
  const figureName = useFigureName()
  const itemName = useItemName()
  const text = useAmount()
  const [first] = figures
  // A count and its amount have one name: they share a line.
  const byFigure = Map.groupBy(figures, ({ figure }) => figure)
  return (
    <div>
      {hasHeading && first !== undefined && (
        <h3 className="mb-1 text-base font-medium">{itemName(first)}</h3>
      )}
      <Facts
        facts={[...byFigure].map(([figure, own]) => ({
          name: figureName({ section: own[0]?.section ?? '', figure }),
          value: [...new Set(own.map(({ value, unit }) => text(value, unit)))].join(' · '),
        }))}
      />
    </div>
  )
}
