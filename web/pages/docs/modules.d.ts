// Modules that build/docs/docs.ts makes.
declare module 'virtual:docs' {
  type Page = import('./pages.ts').DocsPage
  export const pages: Readonly<Record<string, () => Promise<{ readonly page: Page }>>>
  export const indexes: Readonly<Record<'ru' | 'en', () => Promise<{ readonly index: string }>>>
}
