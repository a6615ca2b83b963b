import { defineToolkit } from '../../contract/toolkit.ts';
import { qualcoder } from './dialect.ts';
import { researchTarget } from './present.ts';
import { redactForAgent } from './privacy/redact-for-agent.ts';
import { callContext, obstacle } from './project/ownership.ts';
import { served } from './served/index.ts';
import { connectResearch, type ResearchServices } from './services.ts';
import {
  analyzeContentForCodes,
  analyzeUncodedText,
  detectDuplicateCodes,
  findSimilarContent,
} from './tools/analysis.ts';
import { autoCodePattern, autoCodeSpeaker } from './tools/auto-coding.ts';
import { compareGroups, listAttributes, listCases } from './tools/cases.ts';
import { createCode, getCode, listCodes, updateCode } from './tools/codes.ts';
import { applyCode, batchApplyCodes, removeCoding } from './tools/coding.ts';
import {
  approveBatchCoding,
  approveCodingSuggestion,
  approveMerge,
  approveSuggestion,
  rejectCodingSuggestion,
} from './tools/decisions.ts';
import { deleteCode, mergeCodes, suggestMergeCodes } from './tools/delete-and-merge.ts';
import { importFiles } from './tools/import-files.ts';
import { addAnnotation, addJournalEntry, listJournal, listMemos, updateMemo } from './tools/notes.ts';
import {
  getSuggestionBatchStatus,
  listPendingCodingSuggestions,
  listPendingSuggestions,
} from './tools/pending.ts';
import {
  closeProject,
  createProject,
  getProjectContext,
  openProject,
  setPseudonym,
  setSourceAccess,
} from './tools/projects.ts';
import { codeQuote, findQuoteTool, reanchorSegments } from './tools/quotes.ts';
import { listSegmentsForCode, searchSegments } from './tools/retrieval.ts';
import { suggestSourceMetadata, updateSourceMetadata } from './tools/source-metadata.ts';
import {
  addSource,
  listSegmentsForSource,
  listSources,
  navigateToSegment,
  readSourceContent,
} from './tools/sources.ts';
import { suggestBatchCoding, suggestCodeApplication, suggestNewCode } from './tools/suggest-changes.ts';
import { autoSuggestCodes, suggestCodesForRange } from './tools/suggest-codes.ts';
import { exportCodebookTool, summarizeSegments } from './tools/summary.ts';
import { createCategory, suggestThemes } from './tools/themes.ts';
import { undoChange } from './tools/undo.ts';
import { updateCoding } from './tools/update-coding.ts';

export const toolkit = defineToolkit<ResearchServices>({
  id: 'research',
  title: 'Research',
  rank: 3,
  dialect: qualcoder,
  tools: [
    getProjectContext,
    listSources,
    readSourceContent,
    navigateToSegment,
    suggestSourceMetadata,
    listCodes,
    getCode,
    batchApplyCodes,
    listSegmentsForSource,
    analyzeContentForCodes,
    suggestNewCode,
    listPendingSuggestions,
    approveSuggestion,
    detectDuplicateCodes,
    suggestMergeCodes,
    approveMerge,
    suggestCodeApplication,
    listPendingCodingSuggestions,
    approveCodingSuggestion,
    rejectCodingSuggestion,
    analyzeUncodedText,
    suggestCodesForRange,
    autoSuggestCodes,
    getSuggestionBatchStatus,
    approveBatchCoding,
    findSimilarContent,
    suggestBatchCoding,
    createCode,
    updateCode,
    deleteCode,
    mergeCodes,
    removeCoding,
    addSource,
    autoCodePattern,
    autoCodeSpeaker,
    listSegmentsForCode,
    searchSegments,
    listCases,
    listAttributes,
    compareGroups,
    findQuoteTool,
    codeQuote,
    reanchorSegments,
    updateCoding,
    listMemos,
    updateMemo,
    addAnnotation,
    listJournal,
    addJournalEntry,
    summarizeSegments,
    exportCodebookTool,
    suggestThemes,
    // In no profile: what suggestions wait for, and what only people do.
    applyCode,
    createCategory,
    updateSourceMetadata,
    undoChange,
    openProject,
    createProject,
    closeProject,
    importFiles,
    setSourceAccess,
    setPseudonym,
  ],
  views: served,
  jobs: ({ reading }) => [{ name: 'research: read sources', run: (signal) => reading.run(signal) }],
  redactForAgent,
  callContext,
  target: researchTarget,
  obstacle,
  connect: async (host) => connectResearch(host),
  async close(services) {
    await services.reading.close();
    await services.analysis.close();
    services.projects.shutDown();
  },
});
