// Saves the file of a dispute that is sent to the bank, in the language of the reader there.
import { FileDown } from 'lucide-react'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { useErrorText } from '../../runtime/errors.ts'
import { saveFile } from '../../runtime/save-file.ts'
import { Button } from '../../ui/Button.tsx'
import { call } from '../call.ts'
import { useMay } from '../use-me.ts'

const LANGUAGES = ['ru', 'en'] as const
type FileLanguage = (typeof LANGUAGES)[number]

export function EvidenceButtons({ dispute }: { readonly dispute: string }) {
  const { t } = useTranslation()
  const may = useMay()
  const errorText = useErrorText()
  const [pending, setPending] = useState<FileLanguage>()
  const [problem, setProblem] = useState<string>()
  if (!may('customers.read')) return null

  async function save(language: FileLanguage): Promise<void> {
    setPending(language)
    setProblem(undefined)
    try {
      const file = await call('GET /api/disputes/:id/evidence', {
        ...{ params: { id: dispute }, query: { language } },
      })
      saveFile(file.name, file.html, 'text/html;charset=utf-8')
    } catch (error) {
      setProblem(errorText(error))
    } finally {
      setPending(undefined)
    }
  }

  return (
    <>
      {LANGUAGES.map((language) => {
        const name = `${t('console.queues.evidence')}, ${language.toUpperCase()}`
        return (
          <Button
            key={language}
            isSmall
            isPending={pending === language}
            icon={FileDown}
            aria-label={`${name}: ${dispute}`}
            onClick={() => void save(language)}
          >
            {name}
          </Button>
        )
      })}
      <span role="alert" className="text-sm text-bad empty:hidden">
        {problem}
      </span>
    </>
  )
}
