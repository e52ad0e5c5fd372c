//! The ledger as it is read: by the operator all of it, by a key what was done in its own owner's name.

mod export;
mod shown;
mod wish;

use std::sync::Arc;

use axum::Router;
use axum::extract::State;
use axum::middleware::from_fn;
use axum::response::{Json, Response};
use axum::routing::get;
use sandgate_core::{Owner, Principal};
use sandgate_gate::Ledger;
use sandgate_store::{LedgerFilter, LedgerRecord, Store, StoreError};
use serde_json::{Value, json};

use shown::own_object;
pub use shown::{ledger_object, ledger_tree};
pub use wish::{STATUSES, when};

use crate::access::only_master;
use crate::openai::{ApiError, ApiResult, InPath, Query, no_such_page, pages, wrong_method};
use crate::owner::Who;
use crate::request_id::mark;

/// Requests under one id, and records of one request, that are shown together. The rest is in the list.
pub const MOST_REQUESTS: usize = 20;
pub const MOST_CHILDREN: usize = 1000;

#[derive(Clone, Debug)]
pub struct LedgerDoor {
    pub store: Store,
    pub ledger: Ledger,
}

type Door = Arc<LedgerDoor>;

impl LedgerDoor {
    pub fn router(self) -> Router {
        Router::new()
            .route("/v1/admin/ledger", get(list_all))
            .route("/v1/admin/ledger/export", get(export_all))
            .route("/v1/admin/ledger/{request}", get(retrieve_any))
            .route("/v1/ledger", get(list_own))
            .route("/v1/ledger/{request}", get(retrieve_own))
            .method_not_allowed_fallback(wrong_method)
            .layer(from_fn(mark))
            .with_state(Arc::new(self))
    }

    async fn list(
        &self,
        query: &Query,
        filter: LedgerFilter,
        show: fn(&LedgerRecord) -> Value,
    ) -> ApiResult<Json<Value>> {
        let page = query.page(20, 1000)?;
        self.ledger.flush().await;
        let listed = self.store.ledger(&filter, &page).await.map_err(|error| match error {
            StoreError::NotFound => no_such_page(&page),
            other => other.into(),
        })?;
        Ok(Json(pages::list(pages::mapped(listed, |record| show(&record)))))
    }

    async fn retrieve(&self, id: &str, owner: Option<&Owner>) -> ApiResult<Json<Value>> {
        self.ledger.flush().await;
        let trees = self.store.ledger_trees(id, owner, MOST_REQUESTS, MOST_CHILDREN).await?;
        if trees.is_empty() {
            let message = format!("There is no record of a request with the id '{id}'.");
            return Err(ApiError::not_found(message).about("request_id"));
        }
        let show = if owner.is_some() { own_object } else { ledger_object };
        let requests: Vec<Value> = trees.iter().map(|tree| shown::tree(tree, show)).collect();
        Ok(Json(json!({"object": "ledger.requests", "request_id": id, "data": requests})))
    }
}

async fn list_all(State(door): State<Door>, Who(who): Who, query: Query) -> ApiResult<Json<Value>> {
    only_master(&who)?;
    let filter = wish::read(&query, &[&wish::PAGE[..], &wish::OWN, &wish::ALL])?;
    door.list(&query, filter, ledger_object).await
}

async fn retrieve_any(
    State(door): State<Door>,
    Who(who): Who,
    InPath(id): InPath<String>,
) -> ApiResult<Json<Value>> {
    only_master(&who)?;
    door.retrieve(&id, None).await
}

async fn export_all(State(door): State<Door>, Who(who): Who, query: Query) -> ApiResult<Response> {
    only_master(&who)?;
    let filter = wish::read(&query, &[&wish::OWN[..], &wish::ALL])?;
    door.ledger.flush().await;
    Ok(export::answer(door.store.clone(), filter))
}

async fn list_own(State(door): State<Door>, Who(who): Who, query: Query) -> ApiResult<Json<Value>> {
    let filter = wish::read(&query, &[&wish::PAGE[..], &wish::OWN])?;
    door.list(&query, of_own(who, filter), own_object).await
}

async fn retrieve_own(
    State(door): State<Door>,
    Who(who): Who,
    InPath(id): InPath<String>,
) -> ApiResult<Json<Value>> {
    door.retrieve(&id, Some(&who.owner)).await
}

fn of_own(who: Principal, filter: LedgerFilter) -> LedgerFilter {
    LedgerFilter { owner: Some(who.owner), ..filter }
}

#[cfg(test)]
mod tests;
